#include "envs/mujoco_task_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "envs/mujoco_env.h"
#include "envs/mujoco_shared.h"
#include "tests/envs/reference.h"

namespace lfiw::envs {
namespace {

// Steps of random actions, some beyond the bounds; an episode that ends is followed by another.
struct Steps {
  MatrixF states, actions, next_states, aux;
  std::vector<double> rewards;
  std::vector<std::uint8_t> terminated;
};

Steps Collect(const MujocoTask& task, Eigen::Index count) {
  MujocoEnv env(LoadMujocoTask(task));
  const EnvSpec& spec = env.spec();
  Steps steps{.states = MatrixF(count, spec.obs_dim),
              .actions = MatrixF(count, spec.action_dim),
              .next_states = MatrixF(count, spec.obs_dim),
              .aux = MatrixF(count, spec.aux_dim()),
              .rewards = {},
              .terminated = {}};
  VectorD state(spec.obs_dim), action(spec.action_dim), next(spec.obs_dim), aux(spec.aux_dim());
  Stream stream(5, "transitions");
  env.Reset(stream, {state.data(), static_cast<std::size_t>(state.size())});
  for (Eigen::Index i = 0; i < count; ++i) {
    for (double& a : action) a = 1.2 * spec.action_high(0) * stream.Uniform(-1.0, 1.0);
    const StepResult result = env.Step({action.data(), static_cast<std::size_t>(action.size())},
                                       {next.data(), static_cast<std::size_t>(next.size())},
                                       {aux.data(), static_cast<std::size_t>(aux.size())});
    steps.states.row(i) = state.cast<float>();
    steps.actions.row(i) = action.cast<float>();
    steps.next_states.row(i) = next.cast<float>();
    steps.aux.row(i) = aux.cast<float>();
    steps.rewards.push_back(result.reward);
    steps.terminated.push_back(result.terminated ? 1 : 0);
    state = next;
    if (result.terminated)
      env.Reset(stream, {state.data(), static_cast<std::size_t>(state.size())});
  }
  return steps;
}

std::vector<double> Rewards(const MujocoTask& task, const Steps& steps, RewardSource source) {
  const MujocoTaskRules functions(LoadMujocoTask(task), source);
  std::vector<double> rewards(steps.rewards.size());
  functions.Rewards(steps.states, steps.actions, steps.next_states,
                    steps.aux.leftCols(functions.aux_dim()), rewards);
  return rewards;
}

double RootMeanSquare(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares / static_cast<double>(a.size()));
}

class MujocoTransition : public testing::TestWithParam<MujocoTask> {};

TEST_P(MujocoTransition, RewardsEqualTheEnvironmentsUpToFloatRounding) {
  const Steps steps = Collect(GetParam(), 200);
  const std::vector<double> rewards = Rewards(GetParam(), steps, RewardSource::kDisplacement);
  for (std::size_t i = 0; i < rewards.size(); ++i) {
    ASSERT_NEAR(rewards[i], steps.rewards[i], 1e-6 * (1.0 + std::abs(rewards[i]))) << "step " << i;
  }
}

TEST_P(MujocoTransition, TerminationEqualsTheEnvironments) {
  const Steps steps = Collect(GetParam(), 200);
  std::vector<std::uint8_t> terminated(steps.terminated.size(), 2);
  MujocoTaskRules(LoadMujocoTask(GetParam()), RewardSource::kDisplacement)
      .Terminated(steps.states, steps.actions, steps.next_states, terminated);
  EXPECT_EQ(terminated, steps.terminated);
}

TEST_P(MujocoTransition, TrapezoidIsCloserThanEndVelocityAndNeitherNeedsAux) {
  const Steps steps = Collect(GetParam(), 200);
  const double trapezoid =
      RootMeanSquare(Rewards(GetParam(), steps, RewardSource::kTrapezoid), steps.rewards);
  const double end =
      RootMeanSquare(Rewards(GetParam(), steps, RewardSource::kEndVelocity), steps.rewards);
  RecordProperty("trapezoid_rms", std::to_string(trapezoid));
  RecordProperty("end_velocity_rms", std::to_string(end));
  if (LoadMujocoTask(GetParam())->aux == AuxKind::kVelocity) {
    EXPECT_LT(trapezoid, end);
  } else {
    EXPECT_EQ(trapezoid, end);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MujocoTransition,
                         testing::ValuesIn(MujocoTasks().begin(), MujocoTasks().end()),
                         [](const auto& task) { return TestName(task.param); });

TEST(MujocoTaskRules, EndAnEpisodeWhoseModelPredictsNan) {
  const auto shared = LoadMujocoTask(FindTask("Walker2d"));
  const MujocoTaskRules functions(shared, RewardSource::kTrapezoid);
  MatrixF states = MatrixF::Ones(2, shared->spec.obs_dim);
  states(0, 1) = 0.0f;
  states(1, 0) = std::nanf("");
  std::vector<std::uint8_t> terminated(2);
  functions.Terminated(states, MatrixF::Zero(2, shared->spec.action_dim), states, terminated);
  EXPECT_EQ(terminated, (std::vector<std::uint8_t>{0, 1}));
}

}  // namespace
}  // namespace lfiw::envs
