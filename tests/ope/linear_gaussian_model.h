#ifndef LFIW_TESTS_OPE_LINEAR_GAUSSIAN_MODEL_H_
#define LFIW_TESTS_OPE_LINEAR_GAUSSIAN_MODEL_H_

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/layers.h"
#include "envs/linear_gaussian.h"
#include "models/transition_model.h"
#include "models/transition_ratio.h"
#include "policies/policy.h"

namespace lfiw::ope {

// A scalar linear-Gaussian system where a learned dynamics model would stand.
class ScalarLinearModel final : public TransitionModel {
 public:
  explicit ScalarLinearModel(LinearGaussianSystem system) : system_(std::move(system)) {}

  std::int64_t obs_dim() const override { return 1; }
  std::int64_t action_dim() const override { return 1; }
  std::int64_t aux_dim() const override { return 0; }
  std::int64_t members() const override { return 1; }
  std::int64_t noise_dim() const override { return 1; }
  void Sample(ConstMatrixRef states, ConstMatrixRef actions,
              std::span<const std::int64_t> /*member*/, ConstMatrixRef noise, MatrixRef next_states,
              MatrixRef /*aux*/) const override {
    const double sd = std::sqrt(system_.noise_covariance(0, 0));
    for (Eigen::Index i = 0; i < states.rows(); ++i) {
      next_states(i, 0) = static_cast<float>(system_.state_matrix(0, 0) * states(i, 0) +
                                             system_.action_matrix(0, 0) * actions(i, 0) +
                                             system_.offset(0) + sd * noise(i, 0));
    }
  }
  std::vector<std::int64_t> MembersFor(std::int64_t /*episode*/) const override { return {0}; }

 private:
  LinearGaussianSystem system_;
};

// The exact density ratio of two scalar linear-Gaussian systems.
class ExactRatio final : public TransitionRatio {
 public:
  ExactRatio(const LinearGaussianSystem& truth, const LinearGaussianSystem& model)
      : ratio_(truth, model) {}
  void LogRatios(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                 ConstMatrixRef /*aux*/, std::span<double> log_ratios) const override {
    for (std::size_t i = 0; i < log_ratios.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const auto vector = [row](ConstMatrixRef m) { return VectorD::Constant(1, m(row, 0)); };
      log_ratios[i] = ratio_(vector(states), vector(actions), vector(next_states));
    }
  }

 private:
  TransitionLogRatio ratio_;
};

// u ~ N(gain x, sd^2).
class ScalarLinearPolicy final : public Policy {
 public:
  ScalarLinearPolicy(double gain, double sd) : gain_(gain), sd_(sd) {}

  std::int64_t obs_dim() const override { return 1; }
  std::int64_t action_dim() const override { return 1; }
  std::int64_t noise_dim() const override { return 1; }
  std::string Description() const override { return "scalar linear"; }
  void Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
              ConstMatrixRef noise, MatrixRef actions) const override {
    Mean(observations, steps, actions);
    actions += static_cast<float>(sd_) * noise;
  }
  void Mean(ConstMatrixRef observations, std::span<const std::int64_t> /*steps*/,
            MatrixRef actions) const override {
    actions = static_cast<float>(gain_) * observations;
  }
  bool has_density() const override { return false; }
  void LogDensity(ConstMatrixRef /*observations*/, std::span<const std::int64_t> /*steps*/,
                  ConstMatrixRef /*executed*/, const VectorD& /*low*/, const VectorD& /*high*/,
                  std::span<double> /*log_density*/) const override {}

  LinearGaussianPolicy AsLinearGaussian() const {
    return {MatrixD::Constant(1, 1, gain_), VectorD::Zero(1), MatrixD::Constant(1, 1, sd_ * sd_)};
  }

 private:
  double gain_, sd_;
};

}  // namespace lfiw::ope

#endif  // LFIW_TESTS_OPE_LINEAR_GAUSSIAN_MODEL_H_
