#include "ope/rollouts/importance_resampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/means.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::ope {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

bool HasZero(std::span<const double> log_weights) {
  return std::ranges::find(log_weights, kLogZero) != log_weights.end();
}

// E_data - E_model of two means with their standard errors.
ImprovementCheck Compare(double data, std::optional<double> data_error, double model,
                         std::optional<double> model_error) {
  ImprovementCheck check;
  check.margin = data - model;
  check.holds = check.margin >= 0.0;
  if (data_error && model_error) check.standard_error = std::hypot(*data_error, *model_error);
  return check;
}

ImprovementCheck NoMargin(const char* reason) {
  ImprovementCheck check;
  check.reason = reason;
  return check;
}

ImprovementCheck CompareMeanWeights(std::span<const double> data, std::span<const double> model) {
  if (data.empty() || model.empty()) return NoMargin("a side has no samples");
  const MeanWeight real = LogMeanWeight(data), generated = LogMeanWeight(model);
  if (!real.supported || !generated.supported) return NoMargin("every weight of a side is 0");
  return Compare(real.log_mean, real.log_stderr, generated.log_mean, generated.log_stderr);
}

ImprovementCheck CompareMeanLogWeights(std::span<const double> data,
                                       std::span<const double> model) {
  if (data.empty() || model.empty()) return NoMargin("a side has no samples");
  if (HasZero(data) || HasZero(model)) return NoMargin("a sample has weight 0");
  return Compare(Mean(data), MeanError(data), Mean(model), MeanError(model));
}

}  // namespace

LogPartition EstimateLogPartition(std::span<const double> log_weights) {
  LFIW_ASSERT(!log_weights.empty());
  const MeanWeight mean = LogMeanWeight(log_weights);
  if (!mean.supported) {
    Throw<NumericError>("all {} weights are 0, so the resampled model does not exist",
                        log_weights.size());
  }
  return {.value = mean.log_mean, .standard_error = mean.log_stderr};
}

LogDensityEstimate ResampledLogDensity(double base_log_density, double log_weight,
                                       const LogPartition& partition) {
  return {.value = base_log_density + log_weight - partition.value,
          .standard_error = partition.standard_error};
}

std::vector<std::int64_t> DrawSystematically(std::span<const double> log_weights,
                                             std::int64_t count, Stream& stream) {
  LFIW_ASSERT(!log_weights.empty() && count >= 0);
  std::vector<double> weights(log_weights.begin(), log_weights.end());
  if (!SelfNormalize(weights).supported) {
    Throw<NumericError>("all {} weights are 0, so none can be drawn", log_weights.size());
  }
  // rounding may leave the sum just below the last point, which then is the last candidate's that
  // can be drawn
  const auto positive = [](double weight) { return weight > 0.0; };
  const auto last = std::find_if(weights.rbegin(), weights.rend(), positive);
  const auto end = static_cast<std::size_t>(weights.rend() - last) - 1;
  const double offset = stream.Uniform();
  std::vector<std::int64_t> draws;
  std::size_t at = 0;
  double below = weights[0];
  for (std::int64_t k = 0; k < count; ++k) {
    const double point = (static_cast<double>(k) + offset) / static_cast<double>(count);
    while (at < end && below <= point) below += weights[++at];
    draws.push_back(static_cast<std::int64_t>(at));
  }
  return draws;
}

ResamplingConditions CheckResampling(std::span<const double> data, std::span<const double> model) {
  return {.divergence = CheckImprovement(data, model),
          .mean_weight = CompareMeanWeights(data, model),
          .mean_log_weight = CompareMeanLogWeights(data, model)};
}

}  // namespace lfiw::ope
