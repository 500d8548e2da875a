#include "models/dynamics_checks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lfiw::models {
namespace {

// Episodes of one state that never moves, of the given lengths, and a last one of one step that
// tells how far states may go; one action, no aux.
EpisodeBatch StillLog(std::initializer_list<std::int64_t> lengths, float farthest = 100.0f) {
  EpisodeBatch log;
  for (const std::int64_t length : lengths) {
    log.offsets.push_back(log.offsets.back() + length);
    log.terminated.push_back(0);
  }
  log.offsets.push_back(log.offsets.back() + 1);
  log.terminated.push_back(0);
  log.observations = MatrixF::Zero(log.steps() + log.episodes(), 1);
  log.observations.bottomRows(2) << -farthest, farthest;
  log.actions = MatrixF::Zero(log.steps(), 1);
  log.aux.resize(log.steps(), 0);
  log.rewards.assign(static_cast<std::size_t>(log.steps()), 0.0);
  return log;
}

// A deterministic model s' = s + drift + gain * a, with a state deviation of 2 and unit changes.
DynamicsEnsemble LinearModel(float drift, float gain) {
  const auto constant = [](float value) { return VectorF(VectorF::Constant(1, value)); };
  const DynamicsScalers scalers{Scaler(constant(0), constant(2)), Scaler(constant(0), constant(1)),
                                Scaler(constant(0), constant(1)), Scaler(VectorF(0), VectorF(0))};
  std::vector<Mlp> networks;
  networks.emplace_back(
      2, 1, MlpOptions{.hidden_layers = 0, .width = 1, .activation = {}, .precision = {}},
      Stream(1, "w"));
  networks[0].parameters() << 0.0f, gain, drift;
  return DynamicsEnsemble(DynamicsKind::kDeterministic, scalers, std::move(networks));
}

TEST(OpenLoopError, GrowsByTheDriftInDeviations) {
  const std::vector<std::int64_t> both = {0, 1};
  const auto errors = OpenLoopError(LinearModel(1.0f, 0.0f), StillLog({8, 6}), both, 4);
  ASSERT_EQ(errors.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(errors[k], 0.5 * static_cast<double>(k + 1), 1e-6);
  }
}

TEST(OpenLoopError, StaysInTheRangeOfTheLoggedStatesAsRolloutsDo) {
  const std::vector<std::int64_t> both = {0, 1};
  // from -5 to 5, a tenth of that wider
  const auto errors = OpenLoopError(LinearModel(4.0f, 0.0f), StillLog({8, 6}, 5.0f), both, 4);
  EXPECT_NEAR(errors[0], 2.0, 1e-6);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_NEAR(errors[k], 3.0, 1e-6);
}

TEST(OpenLoopError, FollowsTheLoggedActions) {
  EpisodeBatch log = StillLog({4});
  log.actions.topRows(4) << 1, -2, 3, -4;
  for (Eigen::Index t = 0; t < 4; ++t) {
    log.observations(t + 1, 0) = log.observations(t, 0) + log.actions(t, 0);
  }
  const std::vector<std::int64_t> one = {0};
  for (const double error : OpenLoopError(LinearModel(0.0f, 1.0f), log, one, 4)) {
    EXPECT_NEAR(error, 0.0, 1e-6);
  }
}

TEST(OpenLoopError, NoWindowOfThatLengthIsNaN) {
  const std::vector<std::int64_t> one = {0};
  const auto errors = OpenLoopError(LinearModel(1.0f, 0.0f), StillLog({2}), one, 3);
  EXPECT_NEAR(errors[1], 1.0, 1e-6);
  EXPECT_TRUE(std::isnan(errors[2]));
}

TEST(OneStepErrors, R2IsOneForTheExactModel) {
  EpisodeBatch log = StillLog({4});
  log.actions.topRows(4) << 1, -2, 3, -4;
  for (Eigen::Index t = 0; t < 4; ++t) {
    log.observations(t + 1, 0) = log.observations(t, 0) + log.actions(t, 0);
  }
  const std::vector<std::int64_t> one = {0};
  const DynamicsErrors exact = OneStepErrors(LinearModel(0.0f, 1.0f), log, one);
  EXPECT_NEAR(exact.r2.at(0), 1.0, 1e-9);
  // the mean alone explains nothing: changes 1, -2, 3, -4 have mean -.5
  EXPECT_NEAR(OneStepErrors(LinearModel(-0.5f, 0.0f), log, one).r2.at(0), 0.0, 1e-9);
}

// An episode whose end is not recorded, with a value there that no check may read.
EpisodeBatch UnrecordedEndLog() {
  EpisodeBatch log = StillLog({8, 3});
  log.terminated = log.end_unrecorded = {0, 1};
  log.observations.bottomRows(1).setConstant(1e6f);
  return log;
}

TEST(OpenLoopError, DoesNotReadEndsThatAreNotRecorded) {
  const std::vector<std::int64_t> both = {0, 1};
  EXPECT_EQ(OpenLoopError(LinearModel(1.0f, 0.0f), UnrecordedEndLog(), both, 4),
            OpenLoopError(LinearModel(1.0f, 0.0f), StillLog({8, 2}), both, 4));
}

TEST(OneStepErrors, DoNotReadEndsThatAreNotRecorded) {
  const std::vector<std::int64_t> both = {0, 1};
  const DynamicsErrors errors = OneStepErrors(LinearModel(1.0f, 0.0f), UnrecordedEndLog(), both);
  EXPECT_EQ(errors.steps, 10);
  EXPECT_EQ(errors.r2, OneStepErrors(LinearModel(1.0f, 0.0f), StillLog({8, 2}), both).r2);
}

}  // namespace
}  // namespace lfiw::models
