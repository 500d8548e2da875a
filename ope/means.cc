#include "ope/means.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/statistics.h"

namespace lfiw::ope {

double PlainMean(std::span<const double> values) {
  LFIW_ASSERT(!values.empty());
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
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

std::optional<double> MeanError(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double error = StandardError(values);
  return std::isfinite(error) ? std::optional<double>(error) : std::nullopt;
}

}  // namespace lfiw::ope
