#include "models/losses.h"

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace lfiw::models {
namespace {

using RowF = Eigen::Array<float, 1, Eigen::Dynamic>;

// log(1 + e^x) without overflow
template <class Derived>
auto Softplus(const Eigen::ArrayBase<Derived>& x) {
  return x.max(0.0f) + ((-x.abs()).exp() + 1.0f).log();
}

template <class Derived>
auto Sigmoid(const Eigen::ArrayBase<Derived>& x) {
  return ((-x).exp() + 1.0f).inverse();
}

}  // namespace

void SoftClampLogVariance(ConstMatrixRef raw, MatrixRef log_variance) {
  for (Eigen::Index i = 0; i < raw.rows(); ++i) {
    const RowF below_high = kLogVarianceHigh - Softplus(kLogVarianceHigh - raw.row(i).array());
    log_variance.row(i).array() = kLogVarianceLow + Softplus(below_high - kLogVarianceLow);
  }
}

double GaussianNll(ConstMatrixRef outputs, ConstMatrixRef targets, MatrixRef gradient) {
  const Eigen::Index n = targets.rows(), d = targets.cols();
  LFIW_ASSERT(outputs.cols() == 2 * d && gradient.cols() == 2 * d);
  const float share = 1.0f / static_cast<float>(n * d);
  double sum = 0.0;
  RowF raw(d), below_high(d), log_variance(d), error(d), square(d);
  for (Eigen::Index i = 0; i < n; ++i) {
    raw = outputs.row(i).tail(d).array();
    below_high = kLogVarianceHigh - Softplus(kLogVarianceHigh - raw);
    log_variance = kLogVarianceLow + Softplus(below_high - kLogVarianceLow);
    error = outputs.row(i).head(d).array() - targets.row(i).array();
    // error^2 / variance, from error / variance
    gradient.row(i).head(d).array() = error * (-log_variance).exp() * share;
    square = error * (-log_variance).exp() * error;
    sum += (square + log_variance).template cast<double>().sum();
    // the chain through both bounds of the log-variance
    gradient.row(i).tail(d).array() = 0.5f * share * (1.0f - square) *
                                      Sigmoid(kLogVarianceHigh - raw) *
                                      Sigmoid(below_high - kLogVarianceLow);
  }
  return 0.5 * (sum / static_cast<double>(n * d) + std::log(2.0 * std::numbers::pi));
}

double SquaredError(ConstMatrixRef outputs, ConstMatrixRef targets, MatrixRef gradient) {
  const auto count = static_cast<float>(targets.size());
  double sum = 0.0;
  for (Eigen::Index i = 0; i < targets.rows(); ++i) {
    const RowF error = (outputs.row(i) - targets.row(i)).array();
    sum += error.cast<double>().square().sum();
    gradient.row(i).array() = error * (2.0f / count);
  }
  return sum / static_cast<double>(targets.size());
}

double LogisticLoss(ConstMatrixRef logits, ConstMatrixRef labels, MatrixRef gradient) {
  LFIW_ASSERT(logits.cols() == 1 && labels.cols() == 1 && gradient.cols() == 1);
  const auto n = static_cast<double>(logits.rows());
  double sum = 0.0;
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    const double z = logits(i, 0), y = labels(i, 0);
    const double tail = std::exp(-std::abs(z));
    sum += std::max(z, 0.0) - y * z + std::log1p(tail);
    const double probability = (z >= 0.0 ? 1.0 : tail) / (1.0 + tail);
    gradient(i, 0) = static_cast<float>((probability - y) / n);
  }
  return sum / n;
}

}  // namespace lfiw::models
