#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "envs/env.h"
#include "envs/env_registry.h"

namespace lfiw::envs {
namespace {

// What `steps` random actions lead to: observations, aux and rewards.
std::vector<double> Trace(Env& env, Stream& stream, int steps) {
  const EnvSpec& spec = env.spec();
  std::vector<double> action(static_cast<std::size_t>(spec.action_dim));
  std::vector<double> observation(static_cast<std::size_t>(spec.obs_dim));
  std::vector<double> aux(static_cast<std::size_t>(spec.aux_dim()));
  std::vector<double> trace;
  for (int t = 0; t < steps; ++t) {
    for (double& a : action) a = stream.Uniform(-0.5, 0.5);
    trace.push_back(env.Step(action, observation, aux).reward);
    trace.insert(trace.end(), observation.begin(), observation.end());
    trace.insert(trace.end(), aux.begin(), aux.end());
  }
  return trace;
}

class EnvState : public ::testing::TestWithParam<std::string> {};

TEST_P(EnvState, InstanceThatLoadsItContinuesToTheBit) {
  const auto factory = FindEnv(GetParam());
  const auto env = factory->Make(), other = factory->Make();
  std::vector<double> observation(static_cast<std::size_t>(factory->spec().obs_dim));
  Stream reset(1, "reset"), actions(1, "actions"), other_reset(2, "reset");
  env->Reset(reset, observation);
  Trace(*env, actions, 30);
  const std::vector<double> state = env->SaveState();

  // the other instance has a past of its own, which must not matter
  other->Reset(other_reset, observation);
  Stream other_actions(2, "actions");
  Trace(*other, other_actions, 10);
  other->LoadState(state);
  EXPECT_EQ(other->SaveState(), state);
  Stream same_actions = actions;
  EXPECT_EQ(Trace(*other, same_actions, 40), Trace(*env, actions, 40));
}

TEST_P(EnvState, StateOfAnotherSizeIsRefused) {
  const auto env = FindEnv(GetParam())->Make();
  std::vector<double> state = env->SaveState();
  state.pop_back();
  EXPECT_THROW(env->LoadState(state), DataError);
}

INSTANTIATE_TEST_SUITE_P(All, EnvState, ::testing::ValuesIn(EnvNames()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace lfiw::envs
