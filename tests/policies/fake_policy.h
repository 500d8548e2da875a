#ifndef LFIW_TESTS_POLICIES_FAKE_POLICY_H_
#define LFIW_TESTS_POLICIES_FAKE_POLICY_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "core/layers.h"
#include "policies/policy.h"

namespace lfiw::policies {

// Moves PointEnv's point towards its goal: a_0 = gain (g - x) + n_0, a_1 = 0.5 n_1. Without a
// density.
class ProportionalPolicy final : public Policy {
 public:
  explicit ProportionalPolicy(float gain = 2.0f) : gain_(gain) {}

  std::int64_t obs_dim() const override { return 3; }
  std::int64_t action_dim() const override { return 2; }
  std::int64_t noise_dim() const override { return 2; }
  std::string Description() const override { return "proportional"; }

  void Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
              ConstMatrixRef noise, MatrixRef actions) const override {
    Mean(observations, steps, actions);
    actions.col(0) += noise.col(0);
    actions.col(1) += 0.5f * noise.col(1);
  }
  void Mean(ConstMatrixRef observations, std::span<const std::int64_t> /*steps*/,
            MatrixRef actions) const override {
    actions.col(0) = gain_ * (observations.col(1) - observations.col(0));
    actions.col(1).setZero();
  }
  bool has_density() const override { return false; }
  void LogDensity(ConstMatrixRef /*observations*/, std::span<const std::int64_t> /*steps*/,
                  ConstMatrixRef /*executed*/, const VectorD& /*low*/, const VectorD& /*high*/,
                  std::span<double> /*log_density*/) const override {}

 private:
  float gain_;
};

}  // namespace lfiw::policies

#endif  // LFIW_TESTS_POLICIES_FAKE_POLICY_H_
