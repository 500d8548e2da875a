#include "policies/files/cleanrl_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "policies/files/policy_file.h"
#include "tests/core/test_dir.h"
#include "tests/policies/files/sb3_archive.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Tensors = std::map<std::string, MatrixF>;

// h = tanh(x0 - 2 x1), mean (3 h, -h), deviations (1, e).
Tensors PpoActor() {
  return {
      {"actor_mean.0.weight", MatrixF{{1.0f, -2.0f}}},   {"actor_mean.0.bias", MatrixF::Zero(1, 1)},
      {"actor_mean.2.weight", MatrixF{{3.0f}, {-1.0f}}}, {"actor_mean.2.bias", MatrixF::Zero(2, 1)},
      {"critic.0.weight", MatrixF{{5.0f, 5.0f}}},        {"actor_logstd", MatrixF{{0.0f, 1.0f}}}};
}

// h = relu(x0 + x1), mean h, log deviation -5 + 3.5 (tanh(h) + 1), actions in [-2, 4].
Tensors SacActor() {
  return {{"fc1.weight", MatrixF{{1.0f, 1.0f}}}, {"fc1.bias", MatrixF::Zero(1, 1)},
          {"fc2.weight", MatrixF{{1.0f}}},       {"fc2.bias", MatrixF::Zero(1, 1)},
          {"fc_mean.weight", MatrixF{{1.0f}}},   {"fc_mean.bias", MatrixF::Zero(1, 1)},
          {"fc_logstd.weight", MatrixF{{1.0f}}}, {"fc_logstd.bias", MatrixF::Zero(1, 1)},
          {"action_scale", MatrixF{{3.0f}}},     {"action_bias", MatrixF{{1.0f}}}};
}

class CleanRlPolicyTest : public testing::Test {
 protected:
  std::string Write(const Tensors& tensors, const std::string& name = "a.cleanrl_model") const {
    WriteFileAtomically(dir_ / name, sb3::TorchFile(tensors, dir_ / "scratch"));
    return dir_ / name;
  }
  void WriteContract(const std::string& text) const { WriteFileAtomically(dir_ / "a.yaml", text); }

  static VectorF Act(const Policy& policy, float noise) {
    MatrixF action(1, policy.action_dim());
    policy.Sample(MatrixF{{0.5f, 0.1f}}, std::vector<std::int64_t>{0},
                  MatrixF::Constant(1, policy.noise_dim(), noise), action);
    return action.row(0);
  }

  TestDir dir_;
};

TEST_F(CleanRlPolicyTest, PpoIsAGaussianOnceItIsSaidWhatObservationsItSaw) {
  const std::string path = Write(PpoActor());
  EXPECT_THAT(
      [&] { LoadPolicy(path, {}); },
      ThrowsMessage<PolicyError>(AllOf(HasSubstr("normalizes observations"), HasSubstr("a.yaml"))));
  WriteContract("stochastic: true\n");
  const auto policy = LoadPolicy(path, {});
  const float h = std::tanh(0.5f - 0.2f);
  EXPECT_NEAR(Act(*policy, 1.0f)[0], 3.0f * h + 1.0f, 1e-6);
  EXPECT_NEAR(Act(*policy, 1.0f)[1], -h + std::exp(1.0f), 1e-6);

  WriteContract("normalizer: {mean: [0.5, 0.1], variance: [4.0, 1.0], clip: 10}\n");
  EXPECT_NEAR(Act(*LoadPolicy(path, {}), 0.0f)[0], 0.0f, 1e-6);
  WriteContract("output: mean\n");
  EXPECT_THAT([&] { LoadPolicy(path, {}); },
              ThrowsMessage<PolicyError>(HasSubstr("stochastic, normalizer and")));
}

TEST_F(CleanRlPolicyTest, DiscretePpoHasLogits) {
  const auto policy = LoadPolicy(Write({{"actor.0.weight", MatrixF{{1.0f, -2.0f}}},
                                        {"actor.0.bias", MatrixF::Zero(1, 1)},
                                        {"actor.2.weight", MatrixF{{3.0f}, {-1.0f}, {0.0f}}},
                                        {"actor.2.bias", MatrixF::Zero(3, 1)}}),
                                 {});
  EXPECT_EQ(policy->discrete_actions(), 3);
}

TEST_F(CleanRlPolicyTest, SacIsSquashedAndItsDeviationTakenToItsRangeByTanh) {
  const auto policy = LoadPolicy(Write(SacActor()), {});
  const double h = 0.6;
  const double deviation = std::exp(-5.0 + 3.5 * (std::tanh(h) + 1.0));
  EXPECT_NEAR(Act(*policy, 0.5f)[0], 1.0 + 3.0 * std::tanh(h + 0.5 * deviation), 1e-5);
  EXPECT_TRUE(policy->has_density());
}

TEST_F(CleanRlPolicyTest, Td3ActsWithoutNoiseWithinItsBounds) {
  Tensors actor = SacActor();
  actor["fc_mu.weight"] = actor["fc_mean.weight"];
  actor["fc_mu.bias"] = actor["fc_mean.bias"];
  for (const char* name : {"fc_mean", "fc_logstd"}) {
    actor.erase(std::string(name) + ".weight");
    actor.erase(std::string(name) + ".bias");
  }
  const auto policy = LoadPolicy(Write(actor), {});
  EXPECT_EQ(policy->noise_dim(), 0);
  EXPECT_NEAR(Act(*policy, 0.0f)[0], 1.0 + 3.0 * std::tanh(0.6), 1e-6);
  actor.erase("action_scale");
  EXPECT_THAT([&] { LoadPolicy(Write(actor), {}); },
              ThrowsMessage<PolicyError>(HasSubstr("action_scale is missing")));
}

TEST_F(CleanRlPolicyTest, OtherStateDictsNameTheExporter) {
  EXPECT_THAT(
      [&] {
        LoadPolicy(Write({{"body.weight", MatrixF{{1.0f}}}}), {});
      },
      ThrowsMessage<PolicyError>(
          AllOf(HasSubstr("no actor of CleanRL"), HasSubstr("export_policy.py"))));
}

TEST_F(CleanRlPolicyTest, D3rlpysModelsNameTheExporter) {
  WriteFileAtomically(dir_ / "m.d3", sb3::Pickle(sb3::Dict({{"torch", sb3::Text("bytes")},
                                                            {"config", sb3::Text("{}")},
                                                            {"version", sb3::Text("2.8.1")}})));
  EXPECT_THAT([&] { LoadPolicy(dir_ / "m.d3", {}); },
              ThrowsMessage<PolicyError>(HasSubstr("export_policy.py d3rlpy")));
}

}  // namespace
}  // namespace lfiw::policies
