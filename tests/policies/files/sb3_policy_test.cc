#include "policies/files/sb3_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// One hidden unit: h = tanh(x0 - 2 x1), mean = (3 h, -h).
NpzFile TwoHeadArrays() {
  NpzFile file;
  file.Put("mlp_extractor.policy_net.0.weight", MatrixF{{1.0f, -2.0f}});
  file.Put("mlp_extractor.policy_net.0.bias", VectorF(VectorF::Zero(1)));
  file.Put("action_net.weight", MatrixF{{3.0f}, {-1.0f}});
  file.Put("action_net.bias", VectorF{{0.0f, 0.0f}});
  file.Put("log_std", VectorF{{-1.0f, 0.5f}});
  return file;
}

MatrixF Act(const Policy& policy, const MatrixF& observation, std::int64_t step) {
  MatrixF action(1, policy.action_dim());
  policy.Mean(observation, std::vector<std::int64_t>{step}, action);
  return action;
}

TEST(Sb3PolicyTest, AGaussianOfTheStateDict) {
  ASSERT_TRUE(IsSb3Policy(TwoHeadArrays()));
  const auto policy = PolicyFromSb3(TwoHeadArrays(), 0, "a");
  const double h = std::tanh(0.75 - 2.0 * 0.25);
  const MatrixF action = Act(*policy, MatrixF{{0.75f, 0.25f}}, 0);
  EXPECT_NEAR(action(0, 0), 3.0 * h, 1e-6);
  EXPECT_NEAR(action(0, 1), -h, 1e-6);
  EXPECT_TRUE(policy->has_density());
  EXPECT_EQ(policy->noise_dim(), 2);
}

TEST(Sb3PolicyTest, ObservationsAreNormalizedAsVecNormalizeDoesUnlessItWasOff) {
  NpzFile file = TwoHeadArrays();
  file.Put("obs_mean", std::vector<double>{1.0, 0.0});
  file.Put("obs_var", std::vector<double>{4.0, 1.0});
  file.Put("clip_obs", std::vector<double>{10.0});
  file.Put("norm_epsilon", std::vector<double>{1e-8});
  file.Put("norm_obs", std::vector<std::int64_t>{1});
  const MatrixF observation{{2.0f, 0.0f}};
  EXPECT_NEAR(Act(*PolicyFromSb3(file, 0, "a"), observation, 0)(0, 0), 3.0 * std::tanh(0.5), 1e-6);
  file.Put("norm_obs", std::vector<std::int64_t>{0});
  EXPECT_NEAR(Act(*PolicyFromSb3(file, 0, "a"), observation, 0)(0, 0), 3.0 * std::tanh(2.0), 1e-6);
}

TEST(Sb3PolicyTest, TheTimeFeatureFollowsTheStep) {
  const auto policy = PolicyFromSb3(TwoHeadArrays(), 1000, "a");
  EXPECT_EQ(policy->obs_dim(), 1);
  EXPECT_NEAR(Act(*policy, MatrixF{{2.0f}}, 250)(0, 0), 3.0 * std::tanh(2.0 - 2.0 * 0.75), 1e-6);
}

TEST(Sb3PolicyTest, StateDependentExplorationIsItsMeanActionWithoutADensity) {
  NpzFile file = TwoHeadArrays();
  file.Put("meta_use_sde", std::vector<std::int64_t>{1});
  file.Put("log_std", MatrixF(MatrixF::Zero(1, 2)));
  const auto policy = PolicyFromSb3(file, 0, "a");
  EXPECT_FALSE(policy->has_density());
  EXPECT_EQ(policy->noise_dim(), 0);
  EXPECT_THAT(policy->DensityRefusal(), HasSubstr("gSDE"));
}

TEST(Sb3PolicyTest, WithoutADeviationTheActionsAreDiscrete) {
  NpzFile file;
  const NpzFile arrays = TwoHeadArrays();
  for (const auto& [name, array] : arrays.arrays()) {
    if (name != "log_std") file.Put(name, array);
  }
  const auto policy = PolicyFromSb3(file, 0, "a");
  EXPECT_EQ(policy->discrete_actions(), 2);
  std::vector<double> density(1);
  policy->LogDensity(MatrixF{{0.75f, 0.25f}}, std::vector<std::int64_t>{0}, MatrixF{{1.0f, 0.0f}},
                     VectorD(2), VectorD(2), density);
  EXPECT_NEAR(density[0], -std::log1p(std::exp(-4.0 * std::tanh(0.25))), 1e-6);
}

TEST(Sb3PolicyTest, ARecurrentPolicyIsRefusedByName) {
  NpzFile file = TwoHeadArrays();
  file.Put("lstm_actor.weight_ih_l0", MatrixF{{1.0f}});
  EXPECT_THAT([&] { PolicyFromSb3(file, 0, "a.npz"); },
              ThrowsMessage<PolicyError>(
                  AllOf(HasSubstr("a.npz"), HasSubstr("lstm_actor"), HasSubstr("recurrent"))));
}

TEST(Sb3PolicyTest, TheZoosConfigurationSaysWhetherThereIsATimeFeature) {
  const TestDir dir;
  const std::string path = dir / "config.yml";
  EXPECT_EQ(Sb3TimeFeatureSteps(path), 0);
  const auto steps = [&](const std::string& entry) {
    WriteFileAtomically(path,
                        "!!python/object/apply:collections.OrderedDict\n- - - gamma\n    - "
                        "0.99\n" +
                            entry);
    return Sb3TimeFeatureSteps(path);
  };
  EXPECT_EQ(steps(""), 0);
  EXPECT_EQ(steps("  - - env_wrapper\n    - null\n"), 0);
  EXPECT_EQ(steps("  - - env_wrapper\n    - sb3_contrib.common.wrappers.TimeFeatureWrapper\n"),
            1000);
  EXPECT_EQ(steps("  - - env_wrapper\n    - - utils.wrappers.TimeFeatureWrapper\n"), 1000);
  EXPECT_THAT(
      [&] { steps("  - - env_wrapper\n    - utils.wrappers.HistoryWrapper\n"); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("config.yml:5"), HasSubstr("HistoryWrapper"))));
}

}  // namespace
}  // namespace lfiw::policies
