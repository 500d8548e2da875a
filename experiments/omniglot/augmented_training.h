#ifndef LFIW_EXPERIMENTS_OMNIGLOT_AUGMENTED_TRAINING_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_AUGMENTED_TRAINING_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/config/visitor.h"
#include "core/images/image_batch.h"
#include "core/layers.h"
#include "experiments/omniglot/drawing_split.h"
#include "experiments/omniglot/omniglot_config.h"
#include "models/fit.h"
#include "models/image/training.h"

namespace lfiw::experiments {

// What a classifier of characters is trained on: the columns of the paper's table 2.
enum class TrainingData { kReal, kGenerated, kWeighted, kMixed, kMixedWeighted };
constexpr auto EnumNames(TrainingData /*kind*/) {
  return std::to_array<std::string_view>(
      {"D_cl", "D_g", "D_g w/ LFIW", "D_cl + D_g", "D_cl + D_g w/ LFIW"});
}
inline constexpr std::array kAllTrainingData = {TrainingData::kReal, TrainingData::kGenerated,
                                                TrainingData::kWeighted, TrainingData::kMixed,
                                                TrainingData::kMixedWeighted};

constexpr bool UsesReal(TrainingData data) {
  return data != TrainingData::kGenerated && data != TrainingData::kWeighted;
}
constexpr bool UsesGenerated(TrainingData data) { return data != TrainingData::kReal; }
constexpr bool UsesBoth(TrainingData data) {
  return data == TrainingData::kMixed || data == TrainingData::kMixedWeighted;
}
constexpr bool UsesWeights(TrainingData data) {
  return data == TrainingData::kWeighted || data == TrainingData::kMixedWeighted;
}
// The column that is trained on the same drawings with weights that are all alike.
constexpr TrainingData WithoutWeights(TrainingData data) {
  if (!UsesWeights(data)) return data;
  return UsesBoth(data) ? TrainingData::kMixed : TrainingData::kGenerated;
}

// What the columns have to choose from.
struct AugmentationData {
  const SplitDrawings& drawings;
  const ImageBatch& generated;      // [m], labeled; not read by columns without them
  std::vector<double> log_weights;  // [m]; may be empty for columns without weights
};

// The place of the validation accuracy among the figures of a fit's history.
inline constexpr std::int64_t kValidationAccuracy = 2;

struct AugmentedFit {
  double test_accuracy = 0.0;
  double validation_accuracy = 0.0;  // of the parameters that are kept
  std::int64_t kept_step = 0;
  TrainingHistory history;  // an entry per epoch: loss, held_out_loss and held_out_accuracy
};

// All that the fit of a column depends on beside its images, and nothing that it does not use.
struct ColumnOptions {
  TrainingData data = TrainingData::kReal;
  std::optional<double> mixture_weight = {};  // of columns with real and generated drawings
  std::optional<double> tempered = {};        // of columns with weights
  std::optional<double> alpha = {};           // likewise
  std::optional<WeightBalance> balance = {};  // likewise
  ConvClassifierOptions fit;                  // with the steps of all epochs and of one

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("data", data, "what the column is trained on");
    v.Field("mixture_weight", mixture_weight, "share of real drawings in the loss");
    v.Field("tempered", tempered, "share of the drawings that the weights are worth");
    v.Field("alpha", alpha, "exponent that flattens the weights");
    v.Field("balance", balance, "whether each class's weights have the mean 1");
    v.Field("fit", fit, "network and training");
  }
};

// Returns the options of a column. An epoch is a pass over the larger of n real and m generated
// images, whatever the column: all columns take as many steps, and those with real drawings see
// them equally often. `tempered` is the share of the drawings that a column's weights are worth, 0
// where their exponent is options.alpha; columns without weights do not read it.
ColumnOptions OptionsOf(TrainingData data, double tempered, std::int64_t n, std::int64_t m,
                        const AugmentedOptions& options);

// Trains a classifier of the characters and tests the parameters of best validation accuracy. One
// seed gives every column the same initial weights and, set by set, the same minibatches. Throws
// as TrainConvClassifier.
AugmentedFit TrainAugmented(const AugmentationData& data, const ColumnOptions& column,
                            std::uint64_t seed, const FitJob& job);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_AUGMENTED_TRAINING_H_
