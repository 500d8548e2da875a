#include "policies/logged_density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/logs/episode_batch.h"
#include "envs/env.h"

namespace lfiw::policies {
namespace {

// Says observation, step and action in one number: s + 10 t + 1000 a; it cannot act above the
// bound.
class TellTale final : public Policy {
 public:
  std::int64_t obs_dim() const override { return 1; }
  std::int64_t action_dim() const override { return 1; }
  std::int64_t noise_dim() const override { return 0; }
  std::string Description() const override { return "tell-tale"; }
  void Sample(ConstMatrixRef /*observations*/, std::span<const std::int64_t> /*steps*/,
              ConstMatrixRef /*noise*/, MatrixRef /*actions*/) const override {}
  void Mean(ConstMatrixRef /*observations*/, std::span<const std::int64_t> /*steps*/,
            MatrixRef /*actions*/) const override {}
  bool has_density() const override { return true; }
  void LogDensity(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                  ConstMatrixRef executed, const VectorD& /*low*/, const VectorD& high,
                  std::span<double> log_density) const override {
    for (std::size_t i = 0; i < log_density.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const auto action = static_cast<double>(executed(row, 0));
      log_density[i] = action > high[0]
                           ? -std::numeric_limits<double>::infinity()
                           : static_cast<double>(observations(row, 0)) +
                                 10.0 * static_cast<double>(steps[i]) + 1000.0 * action;
    }
  }
};

TEST(LoggedDensity, IsOfEachStepsOwnStateStepAndAction) {
  EpisodeBatch log;
  log.observations = MatrixF{{1.0f}, {2.0f}, {9.0f}, {3.0f}, {9.0f}};  // 9: final states
  log.actions = MatrixF{{1.0f}, {2.0f}, {4.0f}};
  log.aux.resize(3, 0);
  log.rewards = {0.0, 0.0, 0.0};
  log.offsets = {0, 2, 3};
  log.terminated = {0, 0};
  EnvSpec spec;
  spec.obs_dim = spec.action_dim = 1;
  spec.action_low = VectorD::Constant(1, -3.0);
  spec.action_high = VectorD::Constant(1, 3.0);
  EXPECT_EQ(LoggedDensity(log, TellTale(), spec),
            (std::vector<double>{1001.0, 2012.0, -std::numeric_limits<double>::infinity()}));
}

}  // namespace
}  // namespace lfiw::policies
