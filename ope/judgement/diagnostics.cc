#include "ope/judgement/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/judgement/psis.h"
#include "ope/means.h"

namespace lfiw::ope {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

// Returns how far a mean weight is from 1 beyond two standard errors, in nats.
double ExcessDeviation(const MeanWeight& step) {
  return std::abs(step.log_mean) - 2.0 * step.log_stderr.value_or(0.0);
}

// Standard error of mean(data) - log mean(exp(model)) where rows of one episode depend on each
// other; nothing for fewer than two episodes.
std::optional<double> ClusteredError(std::span<const double> data, std::span<const double> model,
                                     std::span<const std::int64_t> episodes, double log_mean) {
  const auto n = static_cast<double>(data.size());
  const double mean = Mean(data);
  std::map<std::int64_t, double> influence;
  for (std::size_t i = 0; i < data.size(); ++i) {
    influence[episodes[i]] += (data[i] - mean - std::expm1(model[i] - log_mean)) / n;
  }
  if (influence.size() < 2) return std::nullopt;
  const auto clusters = static_cast<double>(influence.size());
  double squares = 0.0;
  for (const auto& [episode, sum] : influence) squares += sum * sum;
  return std::sqrt(squares * clusters / (clusters - 1.0));
}

}  // namespace

MeanWeight LogMeanWeight(std::span<const double> log_weights) {
  MeanWeight result;
  const double unit = *std::max_element(log_weights.begin(), log_weights.end());
  if (unit == kLogZero) return result;
  std::vector<double> weights;
  weights.reserve(log_weights.size());
  for (const double value : log_weights) weights.push_back(std::exp(value - unit));
  const double mean = Mean(weights);
  result.supported = true;
  result.log_mean = unit + std::log(mean);
  if (const auto error = MeanError(weights)) result.log_stderr = *error / mean;
  return result;
}

std::vector<MeanWeight> MeanWeights(const Array<double, 4>& log_weights) {
  const auto& [repetitions, classifiers, n, steps] = log_weights.shape();
  LFIW_ASSERT(repetitions > 0 && classifiers > 0 && n > 0);
  std::vector<MeanWeight> result;
  std::vector<double> rollouts, column(static_cast<std::size_t>(classifiers));
  for (std::int64_t t = 0; t < steps; ++t) {
    rollouts.clear();
    for (std::int64_t r = 0; r < repetitions; ++r) {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t c = 0; c < classifiers; ++c) {
          column[static_cast<std::size_t>(c)] = log_weights(r, c, i, t);
        }
        rollouts.push_back(LogSumExp(column) - std::log(static_cast<double>(classifiers)));
      }
    }
    result.push_back(LogMeanWeight(rollouts));
    result.back().step = t;
  }
  return result;
}

std::optional<MeanWeight> WorstMeanWeight(std::span<const MeanWeight> steps) {
  std::optional<MeanWeight> worst;
  for (const MeanWeight& step : steps) {
    if (!step.supported) continue;
    if (!worst || ExcessDeviation(step) > ExcessDeviation(*worst)) worst = step;
  }
  return worst;
}

std::int64_t LargestReliableHorizon(const LfiwResult& result) {
  const double threshold = KhatThreshold(result.episodes);
  std::int64_t largest = 0;
  for (const LfiwEstimate& estimate : result.horizons) {
    if (estimate.horizon == 0) continue;
    const bool equal = estimate.khat_reason == TailReason(TailStatus::kAllEqual);
    if (!(estimate.khat ? *estimate.khat < threshold : equal)) break;
    largest = estimate.horizon;
  }
  return largest;
}

ImprovementCheck CheckImprovement(std::span<const double> data, std::span<const double> model) {
  ImprovementCheck result;
  if (data.empty() || model.empty()) {
    result.reason = data.empty() ? "no real transitions" : "no model transitions";
    return result;
  }
  if (std::find(data.begin(), data.end(), kLogZero) != data.end()) {
    result.reason = "a real transition has weight 0";
    return result;
  }
  const MeanWeight mean = LogMeanWeight(model);
  if (!mean.supported) {
    result.reason = "every model transition has weight 0";
    return result;
  }
  result.margin = Mean(data) - mean.log_mean;
  result.holds = result.margin >= 0.0;
  const std::optional<double> error = MeanError(data);
  if (error && mean.log_stderr) result.standard_error = std::hypot(*error, *mean.log_stderr);
  return result;
}

ImprovementCheck CheckImprovement(std::span<const double> data, std::span<const double> model,
                                  std::span<const std::int64_t> episodes) {
  LFIW_ASSERT(data.size() == model.size() && data.size() == episodes.size());
  ImprovementCheck result = CheckImprovement(data, model);
  if (!result.reason.empty()) return result;
  const double log_mean = Mean(data) - result.margin;
  result.standard_error = ClusteredError(data, model, episodes, log_mean);
  return result;
}

}  // namespace lfiw::ope
