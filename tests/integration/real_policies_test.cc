// Policies that others trained and published, in the real environment.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "envs/env_registry.h"
#include "policies/collect.h"
#include "policies/files/policy_file.h"
#include "policies/mean_policy.h"
#include "tests/shared_data.h"

namespace lfiw::experiments {
namespace {

// Published mean of undiscounted returns over 1000 steps with its standard error. DOPE (Fu et al.
// 2021): d4rl_policies.json, 100 episodes assumed; Stable-Baselines3: rl-baselines3-zoo, mean
// actions, 150 episodes (TRPO: 20).
struct Published {
  const char* env;
  const char* file;
  bool mean_actions;
  double value;
  double standard_error;
};

class RealPoliciesTest : public testing::TestWithParam<Published> {};

TEST_P(RealPoliciesTest, ValueIsThePublishedOneWithinFivePercentOrThreeStandardErrors) {
  const Published& published = GetParam();
  const std::string path = SharedData(published.file);
  if (path.empty()) GTEST_SKIP() << "shared data is not at hand";
  const auto env = FindEnv(published.env);
  std::unique_ptr<Policy> policy = LoadPolicy(path);
  if (published.mean_actions) policy = std::make_unique<MeanPolicy>(std::move(policy));
  const EpisodeRequest request{.episodes = 20, .horizon = 1000, .seed = 0, .purpose = "truth"};
  const MonteCarloEstimate ours = MonteCarloValue(*env, *policy, request, 1.0);
  const double tolerance =
      std::max(0.05 * std::abs(published.value),
               3.0 * std::hypot(ours.standard_error, published.standard_error));
  EXPECT_NEAR(ours.value, published.value, tolerance)
      << "+- " << ours.standard_error << " (standard error)";
}

INSTANTIATE_TEST_SUITE_P(
    Published, RealPoliciesTest,
    testing::Values(
        Published{"HalfCheetah", "rl/dope/halfcheetah_online_0.pkl", false, -309.24, 9.1},
        Published{"HalfCheetah", "rl/dope/halfcheetah_online_3.npz", false, 7843.35, 12.0},
        Published{"HalfCheetah", "rl/dope/halfcheetah_online_5.pkl", false, 9197.89, 12.5},
        Published{"Hopper", "rl/dope/hopper_online_0.pkl", false, 89.08, 4.6},
        Published{"Hopper", "rl/dope/hopper_online_2.npz", false, 727.08, 9.3},
        Published{"HalfCheetah", "rl/sb3/a2c_HalfCheetah-v3/policy.npz", true, 3041.17, 12.8},
        Published{"Hopper", "rl/sb3/ppo_Hopper-v3/policy.npz", true, 2410.44, 0.8},
        Published{"Swimmer", "rl/sb3/ppo_Swimmer-v3/policy.npz", true, 281.56, 0.8},
        Published{"Swimmer", "rl/sb3/trpo_Swimmer-v3/policy.npz", true, 364.9, 0.5}));

}  // namespace
}  // namespace lfiw::experiments
