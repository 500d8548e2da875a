#ifndef LFIW_MODELS_IMAGE_CONV_CLASSIFIER_H_
#define LFIW_MODELS_IMAGE_CONV_CLASSIFIER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/config/visitor.h"
#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "models/fit.h"
#include "models/image/training.h"

namespace lfiw::models {

// How weights enter the loss of a minibatch of n: sum of w CE over n, or over the sum of w.
enum class BatchWeights { kRaw, kSelfNormalized };

constexpr auto EnumNames(BatchWeights /*kind*/) {
  return std::to_array<std::string_view>({"raw", "self_normalized"});
}

// Which parameters a training leaves behind.
enum class KeptClassifier { kLast, kLowestLoss, kHighestAccuracy };

constexpr auto EnumNames(KeptClassifier /*kind*/) {
  return std::to_array<std::string_view>({"last", "lowest_loss", "highest_accuracy"});
}

// The trunk of matching networks for Omniglot (Vinyals et al. 2016), which the paper uses twice.
struct ConvClassifierOptions {
  std::int64_t filters = 64;
  std::int64_t blocks = 4;  // of convolution 3 x 3, batch norm, ReLU, maximum over 2 x 2
  BatchWeights weights = BatchWeights::kSelfNormalized;
  KeptClassifier kept = KeptClassifier::kLowestLoss;  // on the held-out set, if there is one
  // Standard deviation of noise on all pixels, from -1 to 1, in training and on the held-out set:
  // odds are then those of the smoothed densities.
  double input_noise = 0.0;
  ImageTrainingOptions training = {.steps = 5000, .batch = 32, .adam = {}};

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("filters", filters, "channels of every layer", AtLeast(1));
    v.Field("blocks", blocks, "convolutions, each followed by a halving", AtLeast(1));
    v.Field("weights", weights, "weights of a minibatch as they are, or divided by their sum");
    v.Field("kept", kept, "which entry of the history the parameters are from");
    v.Field("input_noise", input_noise,
            "standard deviation of noise on the pixels, which go from -1 to 1", AtLeast(0.0));
    v.Field("training", training, "steps, batch and optimizer");
  }
};

// Labeled images that a minibatch draws from. Every minibatch takes `batch` of each set; its loss
// is the sum over sets of `share` times the (weighted) mean cross-entropy.
struct LabeledImages {
  const ImageBatch* images = nullptr;
  std::vector<std::int64_t> rows;    // [n], into the images
  std::vector<std::int64_t> labels;  // [n], from 0
  std::vector<double> weights;       // [n]; empty: all 1
  double share = 1.0;
};

// A convolutional classifier: with one output a logit of label 1 against 0, else logits of labels
// 0 .. outputs - 1.
class ConvClassifier {
 public:
  // An untrained one. Throws ConfigError when the images are halved away.
  ConvClassifier(const ConvClassifierOptions& options, std::int64_t outputs, std::int64_t channels,
                 std::int64_t height, std::int64_t width, const Stream& stream);
  ~ConvClassifier();
  ConvClassifier(ConvClassifier&&) noexcept;
  ConvClassifier& operator=(ConvClassifier&&) noexcept;

  // Logits [count, outputs], by running moments. Throws DataError for images of other sizes.
  MatrixF Logits(const ImageBatch& images) const;

  // The mean logits over `draws` draws of noise of the options' standard deviation on the pixels.
  // draws >= 1.
  MatrixF SmoothedLogits(const ImageBatch& images, std::int64_t draws, const Stream& stream) const;

  // Array "<prefix>.parameters", ".state". Load throws DataError unless the file is of a model with
  // the same options and sizes.
  void Save(const std::string& prefix, NpzFile& file) const;
  void Load(const NpzFile& file, const std::string& prefix);

 private:
  void CheckSize(const ImageBatch& images) const;
  friend class ConvClassifierTraining;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct ConvClassifierFit {
  ConvClassifier model;
  // loss; with a held-out set also held_out_loss and held_out_accuracy (unweighted)
  TrainingHistory history;
  std::int64_t kept_step = 0;
};

// Trains on one or more sets of images of one size. `held_out` may have no rows. Throws DataError
// for sets of unequal lengths, labels out of range, weights that are negative, not finite or all
// zero, and as Train.
ConvClassifierFit TrainConvClassifier(const std::vector<LabeledImages>& sets,
                                      const LabeledImages& held_out, std::int64_t outputs,
                                      const ConvClassifierOptions& options, std::uint64_t seed,
                                      const FitJob& job);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_CONV_CLASSIFIER_H_
