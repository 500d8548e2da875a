#include "ope/rollouts/log_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace lfiw::ope {
namespace {

constexpr double kZeroWeight = -std::numeric_limits<double>::infinity();

double Largest(std::span<const double> values) {
  double largest = kZeroWeight;
  for (const double value : values) largest = std::max(largest, value);
  return largest;
}

}  // namespace

void Flatten(std::span<double> log_weights, double alpha) {
  LFIW_ASSERT(alpha >= 0.0);
  if (alpha == 1.0) return;
  if (alpha == 0.0) {
    // 0 * -inf would be NaN
    std::fill(log_weights.begin(), log_weights.end(), 0.0);
    return;
  }
  for (double& value : log_weights) value *= alpha;
}

std::int64_t ClipBelow(std::span<double> log_weights, double beta) {
  LFIW_ASSERT(beta >= 0.0);
  if (beta == 0.0) return 0;
  const double low = std::log(beta);
  std::int64_t clipped = 0;
  for (double& value : log_weights) {
    if (value < low) {
      value = low;
      ++clipped;
    }
  }
  return clipped;
}

WeightSummary Summarize(std::span<const double> log_weights) {
  const double largest = Largest(log_weights);
  if (largest == kZeroWeight) return {};
  double sum = 0.0, squares = 0.0;
  for (const double value : log_weights) {
    const double weight = std::exp(value - largest);
    sum += weight;
    squares += weight * weight;
  }
  const auto n = static_cast<std::int64_t>(log_weights.size());
  return {.supported = true, .ess = EffectiveSampleSize(sum, squares, n), .max_weight = 1.0 / sum};
}

WeightSummary SelfNormalize(std::span<double> log_weights) {
  const double largest = Largest(log_weights);
  if (largest == kZeroWeight) {
    std::fill(log_weights.begin(), log_weights.end(), 0.0);
    return {};
  }
  // as Summarize, with the weights kept
  double sum = 0.0, squares = 0.0;
  for (double& value : log_weights) {
    value = std::exp(value - largest);
    sum += value;
    squares += value * value;
  }
  for (double& value : log_weights) value *= 1.0 / sum;
  const auto n = static_cast<std::int64_t>(log_weights.size());
  return {.supported = true, .ess = EffectiveSampleSize(sum, squares, n), .max_weight = 1.0 / sum};
}

double EffectiveSampleSize(double sum, double sum_of_squares, std::int64_t n) {
  return std::clamp(sum * sum / sum_of_squares, 1.0, static_cast<double>(n));
}

}  // namespace lfiw::ope
