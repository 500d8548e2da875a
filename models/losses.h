#ifndef LFIW_MODELS_LOSSES_H_
#define LFIW_MODELS_LOSSES_H_

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

// Losses as functions of network outputs. Each returns the mean loss (summed in double) and writes
// its gradient with respect to the outputs, the shape of which is that of the outputs.

// Fixed soft bounds of a predicted log-variance, in scaled units (PETS's initial bounds).
inline constexpr float kLogVarianceLow = -10.0f;
inline constexpr float kLogVarianceHigh = 0.5f;

// log-variance = low + softplus(high - softplus(high - raw) - low): strictly within the bounds and
// close to raw between them. raw, log_variance [n, d].
void SoftClampLogVariance(ConstMatrixRef raw, MatrixRef log_variance);

// Negative log-likelihood of a diagonal Gaussian in nats per row and dimension. outputs [n, 2d]:
// means, then raw log-variances; targets [n, d]; gradient [n, 2d].
double GaussianNll(ConstMatrixRef outputs, ConstMatrixRef targets, MatrixRef gradient);

// Mean over rows and dimensions of (output - target)^2. All [n, d].
double SquaredError(ConstMatrixRef outputs, ConstMatrixRef targets, MatrixRef gradient);

// Binary cross-entropy in nats per row, from logits. logits, labels (1 or 0), gradient [n, 1].
double LogisticLoss(ConstMatrixRef logits, ConstMatrixRef labels, MatrixRef gradient);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_LOSSES_H_
