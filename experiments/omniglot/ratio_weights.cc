#include "experiments/omniglot/ratio_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/seed_of.h"
#include "experiments/omniglot/drawing_split.h"
#include "models/fit_identity.h"

namespace lfiw::experiments {
namespace {

using Indices = std::vector<std::int64_t>;

// The images of one set by what they are to a fold's classifier.
struct FoldPart {
  Indices train, validation, held_out;
};

std::int64_t OthersOf(std::int64_t count, std::int64_t fold, std::int64_t folds) {
  return count - (count - fold + folds - 1) / folds;
}

// Validation images taken of each set, as many of one as of the other: their loss chooses.
std::int64_t ValidationCount(std::int64_t n, std::int64_t m, std::int64_t fold,
                             const DrawingRatioOptions& options) {
  const std::int64_t fewest =
      std::min(OthersOf(n, fold, options.folds), OthersOf(m, fold, options.folds));
  const auto wanted =
      static_cast<std::int64_t>(options.validation_share * static_cast<double>(fewest));
  return std::clamp<std::int64_t>(wanted, 1, fewest - 1);
}

// order: a random permutation of the set.
FoldPart PartOf(const Indices& order, std::int64_t fold, std::int64_t folds,
                std::int64_t validation) {
  FoldPart part;
  for (std::int64_t i = 0; i < std::ssize(order); ++i) {
    const std::int64_t image = order[static_cast<std::size_t>(i)];
    if (i % folds == fold) {
      part.held_out.push_back(image);
    } else if (std::ssize(part.validation) < validation) {
      part.validation.push_back(image);
    } else {
      part.train.push_back(image);
    }
  }
  return part;
}

// The options of a fit whose larger set has so many training images.
ConvClassifierOptions OptionsFor(std::int64_t larger, const DrawingRatioOptions& options) {
  ConvClassifierOptions fit = options.fit;
  ImageTrainingOptions& training = fit.training;
  training.report_every = (larger + training.batch - 1) / training.batch;
  training.steps = options.epochs * training.report_every;
  return fit;
}

std::int64_t LargerTrainingSet(std::int64_t n, std::int64_t m, std::int64_t fold,
                               const DrawingRatioOptions& options) {
  const std::int64_t others =
      std::max(OthersOf(n, fold, options.folds), OthersOf(m, fold, options.folds));
  return others - ValidationCount(n, m, fold, options);
}

// Both sets as one, the real images first.
ImageBatch Join(const ImageBatch& real, const ImageBatch& generated) {
  ImageBatch all = real;
  AppendImages(generated, all);
  return all;
}

Indices Shifted(std::span<const std::int64_t> images, std::int64_t by) {
  Indices rows;
  for (const std::int64_t image : images) rows.push_back(image + by);
  return rows;
}

// All of one label; each of the two sets has half of the loss.
LabeledImages SetOf(const ImageBatch& images, Indices rows, std::int64_t label) {
  const std::size_t count = rows.size();
  return {.images = &images,
          .rows = std::move(rows),
          .labels = Indices(count, label),
          .weights = {},
          .share = 0.5};
}

// Draws of the noise that log-weights are the mean of.
constexpr std::int64_t kNoiseDraws = 16;

// Writes the classifier's log-weights of the listed images to their places.
void Weigh(const ConvClassifier& classifier, const ImageBatch& images,
           std::span<const std::int64_t> listed, const Stream& noise, std::int64_t draws,
           std::vector<double>& log_weights) {
  const MatrixF logits = classifier.SmoothedLogits(TakeImages(images, listed), draws, noise);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    log_weights[static_cast<std::size_t>(listed[i])] =
        static_cast<double>(logits(static_cast<Eigen::Index>(i), 0));
  }
}

ConvClassifierFit FitFold(const ImageBatch& all, const FoldPart& real, const FoldPart& generated,
                          std::int64_t n, const ConvClassifierOptions& options, std::uint64_t seed,
                          const FitJob& job) {
  const std::vector<LabeledImages> sets = {SetOf(all, real.train, 1),
                                           SetOf(all, Shifted(generated.train, n), 0)};
  LabeledImages validation = SetOf(all, real.validation, 1);
  const Indices fakes = Shifted(generated.validation, n);
  validation.rows.insert(validation.rows.end(), fakes.begin(), fakes.end());
  validation.labels.resize(validation.rows.size(), 0);
  return TrainConvClassifier(sets, validation, 1, options, seed, job);
}

void Check(std::int64_t n, std::int64_t m, std::int64_t folds) {
  if (std::min(n, m) >= 2 * folds) return;
  Throw<DataError>(
      "ratio classifiers: {} real and {} generated images, expected at least two for each of {} "
      "folds; fewer folds need fewer",
      n, m, folds);
}

}  // namespace

std::int64_t RatioSteps(std::int64_t n, std::int64_t m, const DrawingRatioOptions& options) {
  Check(n, m, options.folds);
  std::int64_t steps = 0;
  for (std::int64_t fold = 0; fold < options.folds; ++fold) {
    steps += OptionsFor(LargerTrainingSet(n, m, fold, options), options).training.steps;
  }
  return steps;
}

RatioFit FitRatios(const ImageBatch& real, const ImageBatch& generated,
                   const DrawingRatioOptions& options, std::uint64_t seed, const FitRun& run) {
  const std::int64_t n = real.count, m = generated.count;
  Check(n, m, options.folds);
  const Indices real_order = Stream(seed, "omniglot folds", {0}).Permutation(n);
  const Indices generated_order = Stream(seed, "omniglot folds", {1}).Permutation(m);
  const ImageBatch all = Join(real, generated);
  RatioFit result{
      .weights = {.real = std::vector<double>(static_cast<std::size_t>(n)),
                  .generated = std::vector<double>(static_cast<std::size_t>(m)),
                  .fits = {}},
      .histories = std::vector<TrainingHistory>(static_cast<std::size_t>(options.folds))};
  ParallelFor(options.folds, [&](std::int64_t fold) {
    const std::int64_t validation = ValidationCount(n, m, fold, options);
    const FoldPart r = PartOf(real_order, fold, options.folds, validation);
    const FoldPart g = PartOf(generated_order, fold, options.folds, validation);
    const std::int64_t larger = std::max(std::ssize(r.train), std::ssize(g.train));
    const FitJob job = FitJob::Of(run, fmt::format("ratio classifier {}", fold),
                                  FitIdentity(options, seed, fmt::format("{} and {} images", n, m)),
                                  fmt::format("ratio_{}.npz", fold));
    ConvClassifierFit fit = FitFold(all, r, g, n, OptionsFor(larger, options),
                                    SeedOf(seed, "omniglot ratio", fold), job);
    const std::int64_t draws = options.fit.input_noise > 0.0 ? kNoiseDraws : 1;
    const auto noise = [&](std::uint64_t set) {
      return Stream(seed, "omniglot weights noise", {static_cast<std::uint64_t>(fold), set});
    };
    Weigh(fit.model, real, r.held_out, noise(0), draws, result.weights.real);
    Weigh(fit.model, generated, g.held_out, noise(1), draws, result.weights.generated);
    result.histories[static_cast<std::size_t>(fold)] = std::move(fit.history);
  });
  return result;
}

}  // namespace lfiw::experiments
