#ifndef LFIW_POLICIES_PPO_RUNNING_MOMENTS_H_
#define LFIW_POLICIES_PPO_RUNNING_MOMENTS_H_

#include <cstdint>
#include <span>

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::policies {

// Mean and (population) variance per column of a stream of samples, by the parallel update of Chan
// et al. It starts, as in openai/baselines, from mean 0 and variance 1 with the weight of 1e-4
// samples, so the first scale is defined.
struct RunningMoments {
  explicit RunningMoments(std::int64_t columns)
      : mean(VectorD::Zero(columns)), variance(VectorD::Ones(columns)) {}

  void Add(std::span<const double> sample);

  VectorD mean;
  VectorD variance;
  double count = 1e-4;
};

// The z-score a policy network sees: clip((x - mean) / sqrt(variance + epsilon), -clip, clip).
class ObservationNormalizer {
 public:
  // Mean 0 and variance 1 until SetStatistics.
  explicit ObservationNormalizer(std::int64_t obs_dim, double clip = 10.0, double epsilon = 1e-8);
  void SetStatistics(const VectorD& mean, const VectorD& variance);

  const VectorD& mean() const { return mean_; }
  const VectorD& variance() const { return variance_; }
  double clip() const { return clip_; }
  double epsilon() const { return epsilon_; }

  // observation, normalized [obs_dim]
  void Apply(const float* observation, float* normalized) const;

 private:
  VectorD mean_;
  VectorD variance_;
  VectorD inverse_scale_;
  double clip_;
  double epsilon_;  // keeps a constant dimension finite
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PPO_RUNNING_MOMENTS_H_
