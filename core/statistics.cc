#include "core/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"

namespace lfiw::core {
namespace {

// Sums that run side by side, which vectorizes; part of the result.
constexpr std::size_t kLanes = 8;

// Sums and what rounding lost of them, by Knuth's two-sum: the same without branches as Neumaier's.
struct CompensatedLanes {
  double sums[kLanes] = {};
  double lost[kLanes] = {};

  void Add(std::size_t lane, double x) {
    const double sum = sums[lane];
    const double next = sum + x;
    const double added = next - sum;
    lost[lane] += (sum - (next - added)) + (x - added);
    sums[lane] = next;
  }

  double Total() const {
    CompensatedLanes all;
    for (const double sum : sums) all.Add(0, sum);
    for (const double one : lost) all.lost[0] += one;
    // an infinite sum makes its own correction NaN
    return std::isfinite(all.sums[0]) ? all.sums[0] + all.lost[0] : all.sums[0];
  }
};

// Compensated sum of term(0) .. term(count - 1).
template <class Term>
double CompensatedSum(std::size_t count, Term term) {
  CompensatedLanes lanes;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes.Add(lane, term(i + lane));
  }
  for (; i < count; ++i) lanes.Add(i % kLanes, term(i));
  return lanes.Total();
}

double Maximum(std::span<const double> values) {
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

double Sum(std::span<const double> values) {
  CompensatedLanes lanes;
  const std::size_t count = values.size();
  if (count <= kLanes) {  // one value for each lane: nothing is lost before the lanes are added
    for (const double value : values) lanes.Add(0, value);
    return std::isfinite(lanes.sums[0]) ? lanes.sums[0] + lanes.lost[0] : lanes.sums[0];
  }
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes.Add(lane, values[i + lane]);
  }
  // the rest as one block with zeros, which change no sum, and not one by one
  if (i < count) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes.Add(lane, i + lane < count ? values[i + lane] : 0.0);
    }
  }
  return lanes.Total();
}

double Mean(std::span<const double> values) {
  LFIW_ASSERT(!values.empty());
  return Sum(values) / static_cast<double>(values.size());
}

double Variance(std::span<const double> values, std::int64_t ddof) {
  const auto n = static_cast<std::int64_t>(values.size());
  LFIW_ASSERT(ddof >= 0 && n > ddof);
  const double mean = Mean(values);
  const double squares = CompensatedSum(
      values.size(), [&](std::size_t i) { return (values[i] - mean) * (values[i] - mean); });
  // the rounding of the mean, seen as a sum of deviations that is not quite zero
  const double rest =
      CompensatedSum(values.size(), [&](std::size_t i) { return values[i] - mean; });
  const double corrected = squares - rest * rest / static_cast<double>(n);
  // equal values may come out as minus a rounding; NaN must pass
  return corrected < 0.0 ? 0.0 : corrected / static_cast<double>(n - ddof);
}

double StandardDeviation(std::span<const double> values, std::int64_t ddof) {
  return std::sqrt(Variance(values, ddof));
}

double StandardError(std::span<const double> values) {
  return StandardDeviation(values) / std::sqrt(static_cast<double>(values.size()));
}

double Quantile(std::span<const double> values, double p) {
  LFIW_ASSERT(!values.empty() && p >= 0.0 && p <= 1.0);
  std::vector<double> sorted(values.begin(), values.end());
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(sorted.begin(), nth, sorted.end());
  const double fraction = position - static_cast<double>(below);
  if (fraction == 0.0) return *nth;
  const double above = *std::min_element(nth + 1, sorted.end());
  return *nth + fraction * (above - *nth);
}

bool AllWithin(std::span<const double> values, double limit) {
  // counters as wide as the values vectorize, a test that ends the loop does not
  std::int64_t beyond = 0;
  for (const double value : values) beyond += std::abs(value) <= limit ? 0 : 1;
  return beyond == 0;
}

double LogSumExp(std::span<const double> values) {
  if (values.empty()) return -std::numeric_limits<double>::infinity();
  const double max = Maximum(values);
  if (std::isinf(max)) return max;
  return max + std::log(CompensatedSum(values.size(),
                                       [&](std::size_t i) { return std::exp(values[i] - max); }));
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double NormalQuantile(double p) {
  LFIW_ASSERT(p > 0.0 && p < 1.0);
  return boost::math::quantile(boost::math::normal_distribution<double>(), p);
}

double StudentTQuantile(double p, double degrees_of_freedom) {
  LFIW_ASSERT(p > 0.0 && p < 1.0 && degrees_of_freedom > 0.0);
  return boost::math::quantile(boost::math::students_t_distribution<double>(degrees_of_freedom), p);
}

}  // namespace lfiw::core
