#include "policies/cloning_losses.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "policies/normal_density.h"

namespace lfiw::policies {
namespace {

// A negative log-likelihood and its derivatives by mean and log deviation.
struct Term {
  double loss;
  double by_mean;
  double by_log_std;
};

// Of a draw known only to lie in the tail below `t` standard deviations; `sign` is that of dt by
// the mean.
Term TailTerm(double t, double scale, double sign) {
  const double log_mass = LogNormalCdf(t);
  const double hazard = std::exp(LogNormalDensity(t, 0.0, 1.0) - log_mass);
  return {-log_mass, -sign * hazard / scale, hazard * t};
}

Term DimensionTerm(double x, double mean, double scale, double low, double high) {
  if (x <= low) return TailTerm((low - mean) / scale, scale, -1.0);
  if (x >= high) return TailTerm((mean - high) / scale, scale, 1.0);
  const double z = (x - mean) / scale;
  return {-LogNormalDensity(x, mean, scale), -z / scale, 1.0 - z * z};
}

}  // namespace

double CensoredGaussianNll(ConstMatrixRef outputs, ConstMatrixRef targets,
                           const GaussianTargets& how, MatrixRef gradient) {
  const Eigen::Index n = targets.rows(), d = targets.cols();
  LFIW_ASSERT(outputs.cols() == 2 * d && gradient.cols() == 2 * d);
  const double share = 1.0 / static_cast<double>(n);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < d; ++j) {
      const double mean = how.center[j] + how.scale[j] * static_cast<double>(outputs(i, j));
      const double raw = std::log(how.scale[j]) + static_cast<double>(outputs(i, d + j));
      const double log_std = std::clamp(raw, how.log_std_low, how.log_std_high);
      Term term = DimensionTerm(static_cast<double>(targets(i, j)), mean, std::exp(log_std),
                                how.low[j], how.high[j]);
      const bool leads_back = raw < log_std ? term.by_log_std < 0.0 : term.by_log_std > 0.0;
      if (raw != log_std && !leads_back) term.by_log_std = 0.0;
      sum += term.loss;
      gradient(i, j) = static_cast<float>(share * how.scale[j] * term.by_mean);
      gradient(i, d + j) = static_cast<float>(share * term.by_log_std);
    }
  }
  return sum * share;
}

double CategoricalNll(ConstMatrixRef logits, ConstMatrixRef actions, MatrixRef gradient) {
  const Eigen::Index n = logits.rows(), k = logits.cols();
  LFIW_ASSERT(actions.cols() == k && gradient.cols() == k);
  const double share = 1.0 / static_cast<double>(n);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto largest = static_cast<double>(logits.row(i).maxCoeff());
    double total = 0.0;
    for (const float logit : logits.row(i)) total += std::exp(static_cast<double>(logit) - largest);
    const double log_total = largest + std::log(total);
    for (Eigen::Index j = 0; j < k; ++j) {
      const auto taken = static_cast<double>(actions(i, j));
      const double log_probability = static_cast<double>(logits(i, j)) - log_total;
      if (taken != 0.0) sum -= taken * log_probability;
      gradient(i, j) = static_cast<float>(share * (std::exp(log_probability) - taken));
    }
  }
  return sum * share;
}

}  // namespace lfiw::policies
