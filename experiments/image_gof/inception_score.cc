#include "experiments/image_gof/inception_score.h"

#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kBlockRows = 512;

// log p(y | x) of every row.
MatrixD LogSoftmax(ConstMatrixRef logits) {
  MatrixD log_p(logits.rows(), logits.cols());
  ParallelBlocks(logits.rows(), kBlockRows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double largest = static_cast<double>(logits.row(i).maxCoeff());
      double sum = 0.0;
      for (Eigen::Index k = 0; k < logits.cols(); ++k) {
        log_p(i, k) = static_cast<double>(logits(i, k)) - largest;
        sum += std::exp(log_p(i, k));
      }
      const double log_sum = std::log(sum);
      for (Eigen::Index k = 0; k < logits.cols(); ++k) log_p(i, k) -= log_sum;
    }
  });
  return log_p;
}

}  // namespace

double InceptionScore(ConstMatrixRef logits, const SampleWeights& weights) {
  LFIW_ASSERT(logits.rows() == weights.size() && logits.rows() >= 1 && logits.cols() >= 1);
  const MatrixD log_p = LogSoftmax(logits);
  VectorD marginal = VectorD::Zero(logits.cols());
  for (Eigen::Index i = 0; i < log_p.rows(); ++i) {
    const double weight = weights.values[i];
    if (weight == 0.0) continue;
    for (Eigen::Index k = 0; k < log_p.cols(); ++k) marginal[k] += weight * std::exp(log_p(i, k));
  }
  const VectorD log_marginal = marginal.array().log();
  double divergence = 0.0;
  for (Eigen::Index i = 0; i < log_p.rows(); ++i) {
    const double weight = weights.values[i];
    if (weight == 0.0) continue;
    for (Eigen::Index k = 0; k < log_p.cols(); ++k) {
      // p log p -> 0; the marginal underflows only where every p does
      const double p = std::exp(log_p(i, k));
      if (p > 0.0 && marginal[k] > 0.0) {
        divergence += weight * p * (log_p(i, k) - log_marginal[k]);
      }
    }
  }
  return std::exp(divergence);
}

}  // namespace lfiw::experiments
