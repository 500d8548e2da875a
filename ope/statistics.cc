#include "ope/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/error.h"

namespace lfiw {

double Mean(std::span<const double> values) {
  LFIW_ASSERT(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double MeanFromFirst(std::span<const double> values) {
  LFIW_ASSERT(!values.empty());
  const double first = values.front();
  double sum = 0.0;
  for (const double value : values) sum += value - first;
  return first + sum / static_cast<double>(values.size());
}

double RootMeanSquare(std::span<const double> values) {
  LFIW_ASSERT(!values.empty());
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  if (largest == 0.0 || !std::isfinite(largest)) return largest;
  double sum = 0.0;
  for (const double value : values) sum += (value / largest) * (value / largest);
  return largest * std::sqrt(sum / static_cast<double>(values.size()));
}

double SampleSd(std::span<const double> values) {
  LFIW_ASSERT(values.size() >= 2);
  const double mean = MeanFromFirst(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(value - mean);
  const auto n = static_cast<double>(values.size());
  return RootMeanSquare(deviations) * std::sqrt(n / (n - 1.0));
}

std::optional<double> StandardError(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  return SampleSd(values) / std::sqrt(static_cast<double>(values.size()));
}

double Quantile(std::span<const double> sorted, double level) {
  LFIW_ASSERT(!sorted.empty() && level >= 0.0 && level <= 1.0);
  const double position = level * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - std::floor(position)) * (sorted[above] - sorted[below]);
}

}  // namespace lfiw
