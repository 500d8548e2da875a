#include "policies/ppo/running_moments.h"

#include <algorithm>

namespace lfiw::policies {
void RunningMoments::Add(std::span<const double> sample) {
  const Eigen::Map<const VectorD> x(sample.data(), mean.size());
  const double total = count + 1.0;
  for (Eigen::Index j = 0; j < mean.size(); ++j) {
    const double delta = x[j] - mean[j];
    mean[j] += delta / total;
    variance[j] = (variance[j] * count + delta * delta * count / total) / total;
  }
  count = total;
}

ObservationNormalizer::ObservationNormalizer(std::int64_t obs_dim, double clip, double epsilon)
    : clip_(clip), epsilon_(epsilon) {
  SetStatistics(VectorD::Zero(obs_dim), VectorD::Ones(obs_dim));
}

void ObservationNormalizer::SetStatistics(const VectorD& mean, const VectorD& variance) {
  mean_ = mean;
  variance_ = variance;
  inverse_scale_ = (variance.array() + epsilon_).sqrt().inverse();
}

void ObservationNormalizer::Apply(const float* observation, float* normalized) const {
  for (Eigen::Index j = 0; j < mean_.size(); ++j) {
    const double z = (static_cast<double>(observation[j]) - mean_[j]) * inverse_scale_[j];
    normalized[j] = static_cast<float>(std::clamp(z, -clip_, clip_));
  }
}

}  // namespace lfiw::policies
