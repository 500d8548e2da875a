#include "experiments/image_gof/frechet_distance.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/image_gof/symmetric_eigen.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kBlockRows = 1024;
constexpr std::int64_t kPanel = 256;

// The columns' weighted means, sums in index order.
VectorD WeightedMean(ConstMatrixRef features, const VectorD& weights) {
  VectorD mean = VectorD::Zero(features.cols());
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    for (Eigen::Index j = 0; j < features.cols(); ++j) {
      mean[j] += weights[i] * static_cast<double>(features(i, j));
    }
  }
  return mean;
}

// Rows sqrt(w_i) (x_i - mean).
MatrixD WeightedDeviations(ConstMatrixRef features, const VectorD& weights, const VectorD& mean) {
  MatrixD rows(features.rows(), features.cols());
  ParallelBlocks(features.rows(), kBlockRows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double root = std::sqrt(weights[i]);
      for (Eigen::Index j = 0; j < features.cols(); ++j) {
        rows(i, j) = root * (static_cast<double>(features(i, j)) - mean[j]);
      }
    }
  });
  return rows;
}

// c = alpha a' b over panels of columns of the lower triangle, then mirrored; a, b [n, d], and
// a' b is symmetric.
MatrixD SymmetricProduct(const MatrixD& a, const MatrixD& b, double alpha) {
  const std::int64_t d = a.cols(), n = a.rows();
  MatrixD c = MatrixD::Zero(d, d);
  ParallelBlocks(d, kPanel, [&](std::int64_t begin, std::int64_t end) {
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(d - begin),
                static_cast<int>(end - begin), static_cast<int>(n), alpha, a.data() + begin,
                static_cast<int>(d), b.data() + begin, static_cast<int>(d), 0.0,
                c.data() + begin * d + begin, static_cast<int>(d));
  });
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = i + 1; j < d; ++j) c(i, j) = c(j, i);
  }
  return c;
}

// a b', a [m, k], b [n, k]; panels of rows of a are tasks.
MatrixD Product(const MatrixD& a, const MatrixD& b) {
  MatrixD c(a.rows(), b.rows());
  ParallelBlocks(a.rows(), kPanel, [&](std::int64_t begin, std::int64_t end) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(end - begin),
                static_cast<int>(b.rows()), static_cast<int>(a.cols()), 1.0,
                a.data() + begin * a.cols(), static_cast<int>(a.cols()), b.data(),
                static_cast<int>(b.cols()), 0.0, c.data() + begin * b.rows(),
                static_cast<int>(b.rows()));
  });
  return c;
}

// A square root of a positive semidefinite matrix without its null space: root' root = matrix.
MatrixD Root(const MatrixD& matrix) {
  const SymmetricEigen eigen = DecomposeSymmetric(matrix);
  const Eigen::Index d = eigen.values.size();
  const double largest = d == 0 ? 0.0 : std::max(eigen.values[d - 1], 0.0);
  const double floor = static_cast<double>(d) * std::numeric_limits<double>::epsilon() * largest;
  Eigen::Index first = 0;
  while (first < d && eigen.values[first] <= floor) ++first;
  MatrixD root = eigen.vectors.bottomRows(d - first);
  for (Eigen::Index k = first; k < d; ++k) root.row(k - first) *= std::sqrt(eigen.values[k]);
  return root;
}

}  // namespace

Moments WeightedMoments(ConstMatrixRef features, const SampleWeights& weights,
                        CovarianceDivisor divisor) {
  LFIW_ASSERT(features.rows() == weights.size() && features.rows() >= 2);
  const double sum = weights.values.sum();
  const VectorD normalized = weights.values / sum;
  const VectorD mean = WeightedMean(features, normalized);
  const double share = divisor == CovarianceDivisor::kPlain ? 1.0 : 1.0 - normalized.squaredNorm();
  if (share <= static_cast<double>(features.rows()) * std::numeric_limits<double>::epsilon()) {
    Throw<NumericError>("one of {} samples has all the weight, so there is no covariance",
                        features.rows());
  }
  const MatrixD rows = WeightedDeviations(features, normalized, mean);
  return {.mean = sum * mean, .covariance = SymmetricProduct(rows, rows, sum / share)};
}

FrechetReference::FrechetReference(Moments moments)
    : moments_(std::move(moments)), root_(Root(moments_.covariance)) {}

double FrechetReference::Distance(const Moments& other) const {
  LFIW_ASSERT(other.mean.size() == moments_.mean.size());
  // the eigenvalues of S1^(1/2) S2 S1^(1/2) = V (D^(1/2) V' S2 V D^(1/2)) V'
  const MatrixD half = Product(root_, other.covariance);
  const VectorD values = SymmetricEigenvalues(Product(half, root_));
  double trace_of_root = 0.0;
  for (const double value : values) trace_of_root += std::sqrt(std::max(value, 0.0));
  const double distance = (moments_.mean - other.mean).squaredNorm() + moments_.covariance.trace() +
                          other.covariance.trace() - 2.0 * trace_of_root;
  return std::max(distance, 0.0);
}

}  // namespace lfiw::experiments
