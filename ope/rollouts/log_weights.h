#ifndef LFIW_OPE_ROLLOUTS_LOG_WEIGHTS_H_
#define LFIW_OPE_ROLLOUTS_LOG_WEIGHTS_H_

#include <cstdint>
#include <span>

#include "core/layers.h"

namespace lfiw::ope {

// Importance weights live as logarithms; -inf is a weight of zero. The transforms act on every
// value, so they take arrays of any shape [..., n, T] as flat spans. Their order is: flatten, clip,
// normalize.

// log w <- alpha log w (the paper's flattening; 1 / temperature of the classifier). alpha >= 0;
// with alpha = 0 every weight becomes 1, one of zero too.
void Flatten(std::span<double> log_weights, double alpha);

// log w <- max(log w, log beta) (the paper's clipping); returns how many values it raised.
// beta >= 0, and 0 changes nothing.
std::int64_t ClipBelow(std::span<double> log_weights, double beta);

// How concentrated a set of weights is. Without support (every weight zero) all numbers are 0.
struct WeightSummary {
  bool supported = false;
  double ess = 0.0;         // Kish's effective sample size (sum w)^2 / sum w^2, in [1, n]
  double max_weight = 0.0;  // largest self-normalized weight, in [1 / n, 1]
};
WeightSummary Summarize(std::span<const double> log_weights);

// Replaces log-weights by the self-normalized weights w_i / sum w, which sum to 1. Without support
// they become 0 and the summary says so.
WeightSummary SelfNormalize(std::span<double> log_weights);

// Effective sample size from the two power sums, rounding kept within [1, n].
double EffectiveSampleSize(double sum, double sum_of_squares, std::int64_t n);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_LOG_WEIGHTS_H_
