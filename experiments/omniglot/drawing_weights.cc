#include "experiments/omniglot/drawing_weights.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiments/image_gof/sample_weights.h"
#include "ope/judgement/diagnostics.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::experiments {
namespace {

// Divides the weights of each class by their mean.
void BalanceClasses(std::span<const std::int64_t> labels, std::vector<double>& log_weights) {
  const auto classes = static_cast<std::size_t>(1 + std::ranges::max(labels));
  std::vector<std::vector<double>> of_class(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    of_class[static_cast<std::size_t>(labels[i])].push_back(log_weights[i]);
  }
  std::vector<double> log_means(classes);
  for (std::size_t c = 0; c < classes; ++c) {
    if (!of_class[c].empty()) log_means[c] = LogMeanWeight(of_class[c]).log_mean;
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double log_mean = log_means[static_cast<std::size_t>(labels[i])];
    if (std::isfinite(log_mean)) log_weights[i] -= log_mean;
  }
}

std::vector<double> WithExponent(std::span<const double> log_ratios,
                                 std::span<const std::int64_t> labels, double alpha,
                                 WeightBalance balance) {
  std::vector<double> log_weights(log_ratios.begin(), log_ratios.end());
  Flatten(log_weights, alpha);
  if (balance == WeightBalance::kClasses) BalanceClasses(labels, log_weights);
  return log_weights;
}

}  // namespace

DrawingWeights WeighDrawings(std::span<const double> log_ratios,
                             std::span<const std::int64_t> labels, const WeightOptions& options) {
  LFIW_ASSERT(!log_ratios.empty() && log_ratios.size() == labels.size());
  DrawingWeights weights{.log_weights = {}, .alpha = options.alpha};
  if (options.tempered > 0.0) {
    weights.alpha = LargestAlpha(options.tempered, log_ratios.size(), [&](double alpha) {
      return Summarize(WithExponent(log_ratios, labels, alpha, options.balance)).ess;
    });
  }
  weights.log_weights = WithExponent(log_ratios, labels, weights.alpha, options.balance);
  const WeightSummary summary = Summarize(weights.log_weights);
  weights.ess = summary.ess;
  weights.max_weight = summary.max_weight;
  return weights;
}

}  // namespace lfiw::experiments
