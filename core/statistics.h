#ifndef LFIW_CORE_STATISTICS_H_
#define LFIW_CORE_STATISTICS_H_

#include <cstdint>
#include <span>

namespace lfiw::core {

// Statistics of plain arrays, in double. Too few values (none for a mean, none left after `ddof`
// for a variance) are a fault of the caller and assert; NaN and infinities pass through.

// Compensated sum (Neumaier 1974): exact to about one rounding whatever the order. Empty: 0.
double Sum(std::span<const double> values);

double Mean(std::span<const double> values);

// Sum of squared deviations over n - ddof, in two passes.
double Variance(std::span<const double> values, std::int64_t ddof = 1);

double StandardDeviation(std::span<const double> values, std::int64_t ddof = 1);

// Standard error of the mean of independent values: standard deviation (ddof 1) / sqrt(n). n >= 2.
double StandardError(std::span<const double> values);

// Quantile at p in [0, 1], linear between order statistics (type 7 of Hyndman & Fan 1996, the
// default of R and numpy). NaN values are not allowed.
double Quantile(std::span<const double> values, double p);

// Whether every |value| is at most `limit`; NaN is not. Without a branch for each value.
bool AllWithin(std::span<const double> values, double limit);

// log(sum(exp(values))) without overflow or underflow. Empty: -infinity.
double LogSumExp(std::span<const double> values);

// Standard normal distribution function and its inverse, p in (0, 1).
double NormalCdf(double x);
double NormalQuantile(double p);

// Inverse of Student's t distribution function, p in (0, 1), degrees of freedom > 0.
double StudentTQuantile(double p, double degrees_of_freedom);

}  // namespace lfiw::core

#endif  // LFIW_CORE_STATISTICS_H_
