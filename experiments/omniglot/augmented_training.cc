#include "experiments/omniglot/augmented_training.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiments/omniglot/drawing_weights.h"

namespace lfiw::experiments {
namespace {

LabeledImages SetOf(const ImageBatch& images, const LabeledRows& rows) {
  return {.images = &images, .rows = rows.rows, .labels = rows.labels, .weights = {}, .share = 1.0};
}

LabeledImages GeneratedSet(const AugmentationData& data, const ColumnOptions& column) {
  LabeledImages set{.images = &data.generated,
                    .rows = {},
                    .labels = data.generated.labels,
                    .weights = {},
                    .share = 1.0};
  for (std::int64_t i = 0; i < data.generated.count; ++i) set.rows.push_back(i);
  if (!UsesWeights(column.data)) return set;
  LFIW_ASSERT(std::ssize(data.log_weights) == data.generated.count);
  set.weights = WeighDrawings(data.log_weights, set.labels,
                              {.tempered = column.tempered.value(),
                               .alpha = column.alpha.value(),
                               .balance = column.balance.value()})
                    .log_weights;
  // where their scale cancels, the largest becomes 1, so that small ones stay in a float's range
  const bool cancels = column.fit.weights == BatchWeights::kSelfNormalized;
  const double shift = cancels ? std::ranges::max(set.weights) : 0.0;
  for (double& weight : set.weights) weight = std::exp(weight - shift);
  return set;
}

std::vector<LabeledImages> SetsOf(const AugmentationData& data, const ColumnOptions& column) {
  std::vector<LabeledImages> sets;
  if (UsesReal(column.data)) sets.push_back(SetOf(data.drawings.images, data.drawings.train));
  if (UsesGenerated(column.data)) sets.push_back(GeneratedSet(data, column));
  if (UsesBoth(column.data)) {
    sets[0].share = column.mixture_weight.value();
    sets[1].share = 1.0 - column.mixture_weight.value();
  }
  return sets;
}

double Accuracy(const ConvClassifier& model, const ImageBatch& images, const LabeledRows& rows) {
  const MatrixF logits = model.Logits(TakeImages(images, rows.rows));
  std::int64_t hits = 0;
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    Eigen::Index best = 0;
    logits.row(i).maxCoeff(&best);
    if (best == rows.labels[static_cast<std::size_t>(i)]) ++hits;
  }
  return static_cast<double>(hits) / static_cast<double>(rows.size());
}

// The held-out accuracy of the entry whose parameters were kept.
double KeptAccuracy(const ConvClassifierFit& fit) {
  const TrainingHistory& history = fit.history;
  const auto place = std::ranges::find(history.steps, fit.kept_step) - history.steps.begin();
  return history.Value(place, kValidationAccuracy);
}

}  // namespace

ColumnOptions OptionsOf(TrainingData data, double tempered, std::int64_t n, std::int64_t m,
                        const AugmentedOptions& options) {
  ColumnOptions column{.data = data, .fit = options.fit};
  ImageTrainingOptions& training = column.fit.training;
  training.report_every = (std::max(n, m) + training.batch - 1) / training.batch;
  training.steps = options.epochs * training.report_every;
  if (UsesBoth(data)) column.mixture_weight = options.mixture_weight;
  if (UsesWeights(data)) {
    column.tempered = tempered;
    column.alpha = options.alpha;
    column.balance = options.balance;
  } else {
    column.fit.weights = BatchWeights::kSelfNormalized;
  }
  return column;
}

AugmentedFit TrainAugmented(const AugmentationData& data, const ColumnOptions& column,
                            std::uint64_t seed, const FitJob& job) {
  const SplitDrawings& drawings = data.drawings;
  const ConvClassifierFit fit =
      TrainConvClassifier(SetsOf(data, column), SetOf(drawings.images, drawings.validation),
                          drawings.classes(), column.fit, seed, job);
  return {.test_accuracy = Accuracy(fit.model, drawings.images, drawings.test),
          .validation_accuracy = KeptAccuracy(fit),
          .kept_step = fit.kept_step,
          .history = fit.history};
}

}  // namespace lfiw::experiments
