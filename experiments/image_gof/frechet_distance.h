#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_FRECHET_DISTANCE_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_FRECHET_DISTANCE_H_

#include "core/layers.h"
#include "core/matrix.h"
#include "experiments/image_gof/sample_weights.h"

namespace lfiw::experiments {

// Mean and covariance of features.
struct Moments {
  VectorD mean;        // [d]
  MatrixD covariance;  // [d, d]
};

// What a covariance is divided by, with s = sum v and weights w = v / s that sum to 1: 1 - sum w^2,
// which is unbiased for fixed weights (n - 1 of n for equal ones), or 1.
enum class CovarianceDivisor { kUnbiased, kPlain };

// mean = sum_i v_i x_i; covariance = s sum_i w_i (x_i - m) (x_i - m)' / divisor, m = sum_i w_i x_i.
// The factor s is the authors' for weights that do not sum to 1. features [n, d], n =
// weights.size() >= 2. Sums in double; panels of the matrix are parallel tasks. Throws NumericError
// when one sample has all the weight and the divisor is the unbiased one.
Moments WeightedMoments(ConstMatrixRef features, const SampleWeights& weights,
                        CovarianceDivisor divisor = CovarianceDivisor::kUnbiased);

// The Frechet distance |m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)) between Gaussians (Heusel et
// al. 2017: FID) from one side, whose square root is computed once, to others. The trace of the
// root is the sum of the roots of the eigenvalues of S1^(1/2) S2 S1^(1/2), which is symmetric; the
// null space of S1 is left out. Numbers in the squared unit of the features.
class FrechetReference {
 public:
  // Throws NumericError when the covariance is not finite.
  explicit FrechetReference(Moments moments);

  // At least 0: rounding is cut off there.
  double Distance(const Moments& other) const;

 private:
  Moments moments_;
  MatrixD root_;  // [rank, d]: rows sqrt(eigenvalue) * eigenvector
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_FRECHET_DISTANCE_H_
