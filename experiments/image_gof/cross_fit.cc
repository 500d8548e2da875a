#include "experiments/image_gof/cross_fit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/parallel.h"
#include "core/rng.h"
#include "ope/judgement/diagnostics.h"

namespace lfiw::experiments {
namespace {

// Draws of the noise that smoothed log-weights are the mean of: more change weights by less than
// another classifier does.
constexpr std::int64_t kNoiseDraws = 16;

// The rows of one set by what they are to a fold's classifier.
struct FoldRows {
  std::vector<std::int64_t> train, validation, held_out;
};

// order: a random permutation of the set's rows.
FoldRows RowsOf(const std::vector<std::int64_t>& order, std::int64_t fold,
                const GofClassifierOptions& options) {
  FoldRows rows;
  std::vector<std::int64_t> others;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool held = static_cast<std::int64_t>(i) % options.folds == fold;
    (held ? rows.held_out : others).push_back(order[i]);
  }
  const auto wanted =
      static_cast<std::int64_t>(options.validation_share * static_cast<double>(others.size()));
  const auto validation = std::clamp<std::int64_t>(wanted, 1, std::ssize(others) - 1);
  rows.validation.assign(others.begin(), others.begin() + validation);
  rows.train.assign(others.begin() + validation, others.end());
  return rows;
}

std::int64_t StepsOfEpoch(std::int64_t rows, const GofClassifierOptions& options) {
  const std::int64_t batch = std::max<std::int64_t>(options.fit.fit.batch, 1);
  return std::max<std::int64_t>((rows + batch - 1) / batch, 1);
}

// The options of a fit on so many training rows.
FeatureClassifierOptions OptionsFor(std::int64_t rows, const GofClassifierOptions& options) {
  FeatureClassifierOptions fit = options.fit;
  fit.fit.validate_every = StepsOfEpoch(rows, options);
  fit.fit.steps = options.epochs * fit.fit.validate_every;
  return fit;
}

// How a classifier's log-weights are taken: at the features, or as the mean over noise on them.
struct Reading {
  double noise = 0.0;
  Stream stream;
};

// The classifier's log-weights of the listed rows, written to their places.
void Weigh(const FeatureClassifier& classifier, ConstMatrixRef features,
           std::span<const std::int64_t> rows, const Reading& reading,
           std::vector<double>& log_weights) {
  MatrixF taken(std::ssize(rows), features.cols());
  for (Eigen::Index i = 0; i < taken.rows(); ++i) {
    taken.row(i) = features.row(rows[static_cast<std::size_t>(i)]);
  }
  std::vector<double> ratios(rows.size());
  if (reading.noise > 0.0) {
    classifier.SmoothedLogRatios(taken, reading.noise, kNoiseDraws, reading.stream, ratios);
  } else {
    classifier.LogRatios(taken, ratios);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    log_weights[static_cast<std::size_t>(rows[i])] = ratios[i];
  }
}

}  // namespace

std::int64_t CrossFitSteps(std::int64_t n, std::int64_t m, const GofClassifierOptions& options) {
  std::int64_t steps = 0;
  std::vector<std::int64_t> real(static_cast<std::size_t>(n)),
      generated(static_cast<std::size_t>(m));
  for (std::int64_t fold = 0; fold < options.folds; ++fold) {
    const std::int64_t rows = std::ssize(RowsOf(real, fold, options).train) +
                              std::ssize(RowsOf(generated, fold, options).train);
    steps += options.epochs * StepsOfEpoch(rows, options);
  }
  return steps;
}

CrossFit FitByFolds(ConstMatrixRef real, ConstMatrixRef generated,
                    const GofClassifierOptions& options, std::uint64_t seed, const FitRun& run) {
  const auto real_order = Stream(seed, "gof folds", {0}).Permutation(real.rows());
  const auto generated_order = Stream(seed, "gof folds", {1}).Permutation(generated.rows());
  CrossFit result{.real = std::vector<double>(static_cast<std::size_t>(real.rows())),
                  .generated = std::vector<double>(static_cast<std::size_t>(generated.rows())),
                  .fits = std::vector<FitSummary>(static_cast<std::size_t>(options.folds))};
  std::vector<std::optional<FeatureClassifier>> classifiers(
      static_cast<std::size_t>(options.folds));
  ParallelFor(options.folds, [&](std::int64_t fold) {
    const FoldRows r = RowsOf(real_order, fold, options);
    const FoldRows g = RowsOf(generated_order, fold, options);
    const FeatureClassifierData data{
        real, generated, {r.train, g.train}, {r.validation, g.validation}};
    const auto options_here = OptionsFor(std::ssize(r.train) + std::ssize(g.train), options);
    FeatureClassifierFit fit = FitFeatureClassifier(data, options_here, seed, fold, run);
    const auto reading = [&](std::uint64_t set) {
      return Reading{options.fit.input_noise,
                     Stream(seed, "gof weights noise", {static_cast<std::uint64_t>(fold), set})};
    };
    Weigh(fit.classifier, real, r.held_out, reading(0), result.real);
    Weigh(fit.classifier, generated, g.held_out, reading(1), result.generated);
    result.fits[static_cast<std::size_t>(fold)] = std::move(fit.summary);
    classifiers[static_cast<std::size_t>(fold)] = std::move(fit.classifier);
  });
  for (auto& classifier : classifiers) result.classifiers.push_back(*std::move(classifier));
  return result;
}

std::vector<double> AveragedLogWeights(std::span<const FeatureClassifier> classifiers,
                                       ConstMatrixRef features) {
  const auto n = static_cast<std::size_t>(features.rows());
  std::vector<std::vector<double>> by_classifier;
  for (const FeatureClassifier& classifier : classifiers) {
    classifier.LogRatios(features, by_classifier.emplace_back(n));
  }
  std::vector<double> averaged(n), weights(classifiers.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = by_classifier[k][i];
    averaged[i] = LogMeanWeight(weights).log_mean;
  }
  return averaged;
}

std::vector<double> DealtLogWeights(std::span<const FeatureClassifier> classifiers,
                                    ConstMatrixRef features, std::uint64_t seed) {
  const auto order = Stream(seed, "gof folds of new samples").Permutation(features.rows());
  std::vector<std::vector<std::int64_t>> rows(classifiers.size());
  for (std::size_t i = 0; i < order.size(); ++i) rows[i % rows.size()].push_back(order[i]);
  std::vector<double> dealt(order.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Weigh(classifiers[k], features, rows[k], {0.0, Stream(seed, "gof folds of new samples")},
          dealt);
  }
  return dealt;
}

}  // namespace lfiw::experiments
