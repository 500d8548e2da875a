#ifndef LFIW_OPE_STATISTICS_H_
#define LFIW_OPE_STATISTICS_H_

#include <optional>
#include <span>

namespace lfiw {

// Sums run in index order, so results do not depend on how values were computed.

// Mean of at least one value.
double Mean(std::span<const double> values);

// Mean of at least one value, exact when all are equal (x + x + x is not always 3 x in double).
double MeanFromFirst(std::span<const double> values);

// Square root of the mean square, without overflow of the squares. At least one value.
double RootMeanSquare(std::span<const double> values);

// Standard deviation with n - 1 in the denominator; at least two values.
double SampleSd(std::span<const double> values);

// Standard error of the mean, SampleSd / sqrt(n); empty for fewer than two values.
std::optional<double> StandardError(std::span<const double> values);

// The `level` quantile, linear between order statistics (type 7 of Hyndman and Fan 1996, the
// default of R and numpy). `sorted` ascending, at least one value; level in [0, 1].
double Quantile(std::span<const double> sorted, double level);

}  // namespace lfiw

#endif  // LFIW_OPE_STATISTICS_H_
