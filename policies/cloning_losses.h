#ifndef LFIW_POLICIES_CLONING_LOSSES_H_
#define LFIW_POLICIES_CLONING_LOSSES_H_

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::policies {

// Losses of behavior cloning as functions of network outputs. Each returns the mean over rows of
// the negative log-likelihood of whole actions in nats (summed in double) and writes its gradient
// with respect to the outputs.

// How outputs become a diagonal Gaussian, and where draws were clipped, in the units of the
// targets. All [action_dim].
struct GaussianTargets {
  VectorD center, scale;  // mean = center + scale * output
  VectorD low, high;      // a target at or beyond a bound counts by its tail's mass
  // log deviation = clamp(log(scale) + output, log_std_low, log_std_high)
  double log_std_low = -5.0;
  double log_std_high = 2.0;
};

// outputs [n, 2d]: of means, then of log deviations; targets [n, d]; gradient [n, 2d]. Where a log
// deviation is clamped its gradient is kept only if a step along it leads back.
double CensoredGaussianNll(ConstMatrixRef outputs, ConstMatrixRef targets,
                           const GaussianTargets& how, MatrixRef gradient);

// logits, one-hot actions, gradient [n, k].
double CategoricalNll(ConstMatrixRef logits, ConstMatrixRef actions, MatrixRef gradient);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_CLONING_LOSSES_H_
