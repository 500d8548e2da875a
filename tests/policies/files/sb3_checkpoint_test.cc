#include "policies/files/sb3_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"
#include "policies/files/policy_file.h"
#include "tests/core/test_dir.h"
#include "tests/policies/files/sb3_archive.h"
#include "tests/shared_data.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Sb3CheckpointTest : public testing::Test {
 protected:
  std::unique_ptr<Policy> Load(const sb3::Agent& agent, std::int64_t steps = 0) const {
    agent.Write(Path());
    return LoadSb3Checkpoint(Path(), steps);
  }

  // One line that names the file.
  std::string ErrorOf(const sb3::Agent& agent) const {
    try {
      Load(agent);
    } catch (const PolicyError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("agent.zip"), Not(HasSubstr("\n"))));
      return error.what();
    }
    return "no error";
  }

  static MatrixF Act(const Policy& policy, const MatrixF& observation) {
    MatrixF action(1, policy.action_dim());
    policy.Mean(observation, std::vector<std::int64_t>{0}, action);
    return action;
  }

  std::string Path() const { return dir_ / "agent.zip"; }

  TestDir dir_;
};

TEST_F(Sb3CheckpointTest, PpoIsAGaussianClippedToTheActionSpace) {
  const auto policy = Load(sb3::PpoAgent());
  EXPECT_EQ(policy->Description(), "clipped Gaussian tanh MLP 2-1-2, Stable-Baselines3 PPO");
  const double h = std::tanh(0.75 - 2.0 * 0.25);
  const MatrixF mean = Act(*policy, MatrixF{{0.75f, 0.25f}});
  EXPECT_NEAR(mean(0, 0), 3.0 * h, 1e-6);
  EXPECT_NEAR(mean(0, 1), -h, 1e-6);
  MatrixF drawn(1, 2);
  policy->Sample(MatrixF{{0.75f, 0.25f}}, std::vector<std::int64_t>{0}, MatrixF{{2.0f, 0.1f}},
                 drawn);
  EXPECT_EQ(drawn(0, 0), 1.0f);
  EXPECT_NEAR(drawn(0, 1), -h + 0.1 * std::exp(1.0), 1e-6);
  EXPECT_TRUE(policy->has_density());
}

TEST_F(Sb3CheckpointTest, TheActivationAndSharedLayersAreTheAgents) {
  sb3::Agent agent = sb3::PpoAgent();
  agent.data["policy_kwargs"] = sb3::Serialized(
      sb3::Dict({{"activation_fn", sb3::Global("torch.nn.modules.activation", "ReLU")}}));
  EXPECT_NEAR(Act(*Load(agent), MatrixF{{0.3f, 0.0f}})(0, 0), 0.9f, 1e-6);
  // doubles both observations
  agent.tensors["mlp_extractor.shared_net.0.weight"] = MatrixF{{2.0f, 0.0f}, {0.0f, 2.0f}};
  agent.tensors["mlp_extractor.shared_net.0.bias"] = MatrixF::Zero(2, 1);
  EXPECT_NEAR(Act(*Load(agent), MatrixF{{0.15f, 0.0f}})(0, 0), 0.9f, 1e-6);
  agent.data["policy_kwargs"] = sb3::Serialized(
      sb3::Dict({{"activation_fn", sb3::Global("torch.nn.modules.activation", "ELU")}}));
  EXPECT_THAT(ErrorOf(agent), AllOf(HasSubstr("ELU"), HasSubstr("export_policy.py")));
}

TEST_F(Sb3CheckpointTest, DiscreteActionsAreLogits) {
  sb3::Agent agent = sb3::PpoAgent();
  agent.tensors.erase("log_std");
  const auto discrete = [](std::int64_t n, std::int64_t start) {
    return sb3::Serialized(
        sb3::Object("gymnasium.spaces.discrete", "Discrete",
                    sb3::Dict({{"n", sb3::Int(n)}, {"start", sb3::Int(start)}})));
  };
  agent.data["action_space"] = discrete(2, 0);
  const auto policy = Load(agent);
  EXPECT_EQ(policy->discrete_actions(), 2);
  EXPECT_EQ(Act(*policy, MatrixF{{0.75f, 0.25f}}), (MatrixF{{1.0f, 0.0f}}));
  agent.data["action_space"] = discrete(2, 1);
  EXPECT_THAT(ErrorOf(agent), HasSubstr("do not start at 0"));
  agent.data["action_space"] = discrete(3, 0);
  EXPECT_THAT(ErrorOf(agent), HasSubstr("the action space has 3 values, expected 2"));
}

TEST_F(Sb3CheckpointTest, StateDependentExplorationIsItsMeanActionWithoutADensity) {
  sb3::Agent agent = sb3::PpoAgent();
  agent.data["use_sde"] = "true";
  agent.tensors["log_std"] = MatrixF::Zero(1, 2);
  const auto policy = Load(agent);
  EXPECT_EQ(policy->noise_dim(), 0);
  EXPECT_THAT(policy->DensityRefusal(), HasSubstr("gSDE"));
  EXPECT_EQ(Act(*policy, MatrixF{{9.0f, 0.0f}})(0, 0), 1.0f);
  agent.data["policy_kwargs"] = "{\"squash_output\": true}";
  EXPECT_NEAR(Act(*Load(agent), MatrixF{{9.0f, 0.0f}})(0, 1), 2.0 * std::tanh(-1.0), 1e-6);
}

// SAC's actor: h = relu(x0 - 2 x1), mean (h, -h), log deviation (h - 1, 0).
sb3::Agent SacAgent() {
  sb3::Agent agent = sb3::PpoAgent();
  agent.data["policy_class"] =
      sb3::Serialized(sb3::Global("stable_baselines3.sac.policies", "SACPolicy"));
  agent.data.erase("clip_range");
  agent.tensors = {{"actor.latent_pi.0.weight", MatrixF{{1.0f, -2.0f}}},
                   {"actor.latent_pi.0.bias", MatrixF::Zero(1, 1)},
                   {"actor.mu.weight", MatrixF{{1.0f}, {-1.0f}}},
                   {"actor.mu.bias", MatrixF::Zero(2, 1)},
                   {"actor.log_std.weight", MatrixF{{1.0f}, {0.0f}}},
                   {"actor.log_std.bias", MatrixF{{-1.0f}, {0.0f}}},
                   {"critic.qf0.0.weight", MatrixF::Zero(1, 4)},
                   {"critic_target.qf0.0.weight", MatrixF::Zero(1, 4)}};
  return agent;
}

TEST_F(Sb3CheckpointTest, SacIsASquashedGaussian) {
  const auto policy = Load(SacAgent());
  EXPECT_THAT(policy->Description(), HasSubstr("tanh-squashed Gaussian relu MLP 2-1-4"));
  EXPECT_NEAR(Act(*policy, MatrixF{{0.5f, 0.0f}})(0, 1), 2.0 * std::tanh(-0.5), 1e-6);
  MatrixF drawn(1, 2);
  policy->Sample(MatrixF{{0.5f, 0.0f}}, std::vector<std::int64_t>{0}, MatrixF{{1.0f, 0.0f}}, drawn);
  EXPECT_NEAR(drawn(0, 0), std::tanh(0.5 + std::exp(-0.5)), 1e-6);
}

TEST_F(Sb3CheckpointTest, SacsStateDependentExplorationIsRefused) {
  sb3::Agent agent = SacAgent();
  agent.data["use_sde"] = "true";
  EXPECT_THAT(ErrorOf(agent), AllOf(HasSubstr("gSDE"), HasSubstr("export_policy.py")));
}

TEST_F(Sb3CheckpointTest, Td3ActsWithoutNoiseWithinTheActionSpace) {
  sb3::Agent agent = SacAgent();
  agent.tensors = {{"actor.mu.0.weight", MatrixF{{1.0f, -2.0f}}},
                   {"actor.mu.0.bias", MatrixF::Zero(1, 1)},
                   {"actor.mu.2.weight", MatrixF{{3.0f}, {-1.0f}}},
                   {"actor.mu.2.bias", MatrixF::Zero(2, 1)}};
  agent.data["action_space"] = sb3::Box({-1.0, 0.0}, {1.0, 4.0});
  const auto policy = Load(agent);
  EXPECT_EQ(policy->noise_dim(), 0);
  const MatrixF action = Act(*policy, MatrixF{{0.5f, 0.0f}});
  EXPECT_NEAR(action(0, 0), std::tanh(1.5), 1e-6);
  EXPECT_NEAR(action(0, 1), 2.0 + 2.0 * std::tanh(-0.5), 1e-6);
}

std::string Normalizer(bool norm_obs) {
  using sb3::Array, sb3::Dict, sb3::Float, sb3::Object;
  return sb3::Pickle(
      Object("stable_baselines3.common.vec_env.vec_normalize", "VecNormalize",
             Dict({{"norm_obs", sb3::Bool(norm_obs)},
                   {"obs_rms", Object("stable_baselines3.common.running_mean_std", "RunningMeanStd",
                                      Dict({{"mean", Array({1.0, 0.0})},
                                            {"var", Array({4.0, 1.0})},
                                            {"count", Float(10.0)}}))},
                   {"clip_obs", Float(10.0)},
                   {"epsilon", Float(1e-8)}})));
}

TEST_F(Sb3CheckpointTest, VecNormalizeBesideItIsReadAndCountsForTheHash) {
  const sb3::Agent agent = sb3::PpoAgent();
  agent.Write(Path());
  const std::string before = PolicyHash(Path());
  WriteFileAtomically(dir_ / "vecnormalize.pkl", Normalizer(true));
  EXPECT_NE(PolicyHash(Path()), before);
  EXPECT_NEAR(Act(*LoadPolicy(Path()), MatrixF{{1.2f, 0.0f}})(0, 0), 3.0 * std::tanh(0.1), 1e-6);
  WriteFileAtomically(dir_ / "vecnormalize.pkl", Normalizer(false));
  EXPECT_NEAR(Act(*LoadPolicy(Path()), MatrixF{{0.2f, 0.0f}})(0, 0), 3.0 * std::tanh(0.2), 1e-6);
}

TEST_F(Sb3CheckpointTest, MissingStatisticsOfVecNormalizeAreAskedFor) {
  sb3::Agent agent = sb3::PpoAgent();
  agent.data["_last_original_obs"] = "{\":type:\": \"<class 'numpy.ndarray'>\"}";
  EXPECT_THAT(ErrorOf(agent), HasSubstr("put the vecnormalize.pkl"));
  WriteFileAtomically(dir_ / "agent_vecnormalize.pkl", Normalizer(true));
  EXPECT_EQ(ErrorOf(agent), "no error");
  WriteFileAtomically(dir_ / "agent_vecnormalize.pkl", sb3::Pickle(sb3::Dict({})));
  EXPECT_THAT([&] { Load(agent); },
              testing::ThrowsMessage<PolicyError>(HasSubstr("holds no VecNormalize")));
}

TEST_F(Sb3CheckpointTest, TheTimeFeatureTakesTheLastInput) {
  EXPECT_EQ(Load(sb3::PpoAgent(), 1000)->obs_dim(), 1);
}

TEST_F(Sb3CheckpointTest, WhatCannotBeReadSaysSoAndNamesTheExporter) {
  const auto with = [](const std::string& key, const std::string& value) {
    sb3::Agent agent = sb3::PpoAgent();
    agent.data[key] = value;
    return agent;
  };
  EXPECT_THAT(ErrorOf(with("policy_class", sb3::Serialized(sb3::Global("mine", "MyPolicy")))),
              AllOf(HasSubstr("mine.MyPolicy"), HasSubstr("export_policy.py")));
  EXPECT_THAT(ErrorOf(with("policy_class",
                           sb3::Serialized(sb3::Global("sb3_contrib.common.maskable.policies",
                                                       "MaskableActorCriticPolicy")))),
              HasSubstr("masked actions"));
  const std::string dict = sb3::Serialized(sb3::Object("gymnasium.spaces.dict", "Dict", "}"));
  EXPECT_THAT(ErrorOf(with("observation_space", dict)), HasSubstr("observations in a Dict"));
  EXPECT_THAT(ErrorOf(with("action_space", dict)), HasSubstr("actions in a Dict"));
  EXPECT_THAT(ErrorOf(with("action_space", "{\":serialized:\": \"%%%\"}")),
              AllOf(HasSubstr("'action_space'"), HasSubstr("not base64")));
  sb3::Agent agent = sb3::PpoAgent();
  agent.tensors["lstm_actor.weight_ih_l0"] = MatrixF::Zero(1, 1);
  EXPECT_THAT(ErrorOf(agent), HasSubstr("recurrent"));
  agent = sb3::PpoAgent();
  agent.tensors["features_extractor.cnn.0.weight"] = MatrixF::Zero(1, 1);
  EXPECT_THAT(ErrorOf(agent), HasSubstr("more than dense layers"));
  agent = sb3::PpoAgent();
  agent.tensors = {{"q_net.q_net.0.weight", MatrixF::Zero(1, 1)}};
  EXPECT_THAT(ErrorOf(agent), HasSubstr("without an actor"));
}

TEST_F(Sb3CheckpointTest, EveryTruncationIsAPolicyError) {
  sb3::PpoAgent().Write(Path());
  const std::string bytes = ReadFile(Path());
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    WriteFileAtomically(Path(), bytes.substr(0, size));
    EXPECT_THROW(LoadPolicy(Path()), PolicyError) << size;
  }
}

TEST_F(Sb3CheckpointTest, PublishedAgentsActAsTheirExtractedArrays) {
  if (SharedData("rl/sb3").empty()) GTEST_SKIP() << "shared data is not at hand";
  for (const std::string name : {"a2c_HalfCheetah-v3", "ppo_HalfCheetah-v3", "ppo_Hopper-v3",
                                 "ppo_Pendulum-v1", "ppo_Swimmer-v3", "trpo_Swimmer-v3"}) {
    SCOPED_TRACE(name);
    const std::string task = name.substr(name.find('_') + 1);
    const auto agent = LoadPolicy(SharedData("rl/sb3/" + name + "/" + task + ".zip"));
    const auto arrays = LoadPolicy(SharedData("rl/sb3/" + name + "/policy.npz"));
    ASSERT_EQ(agent->obs_dim(), arrays->obs_dim());
    MatrixF observations(50, agent->obs_dim());
    Stream(3, name).FillNormal(
        std::span(observations.data(), static_cast<std::size_t>(observations.size())));
    const std::vector<std::int64_t> steps(50);
    MatrixF ours(50, agent->action_dim()), theirs = ours;
    agent->Mean(observations, steps, ours);
    arrays->Mean(observations, steps, theirs);
    const float bound = task == "Pendulum-v1" ? 2.0f : 1.0f;
    EXPECT_EQ(ours, theirs.cwiseMax(-bound).cwiseMin(bound));
  }
}

}  // namespace
}  // namespace lfiw::policies
