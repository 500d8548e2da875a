#ifndef LFIW_OPE_MEANS_H_
#define LFIW_OPE_MEANS_H_

#include <optional>
#include <span>

#include "core/layers.h"

namespace lfiw::ope {

// Means whose rounding or range matters to estimators, beside those of core/statistics.h.

// Plain sum in index order / n, the bytes that a weighted mean has when all weights are 1.
double PlainMean(std::span<const double> values);

// Exactly x when all values are x (a sum of equal values is rounded). At least one value.
double MeanFromFirst(std::span<const double> values);

// Square root of the mean square; squares do not overflow. At least one value.
double RootMeanSquare(std::span<const double> values);

// Standard error of the mean; empty for fewer than two values or when it leaves double's range.
std::optional<double> MeanError(std::span<const double> values);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_MEANS_H_
