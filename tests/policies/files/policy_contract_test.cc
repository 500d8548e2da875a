#include "policies/files/policy_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class PolicyContractTest : public testing::Test {
 protected:
  PolicyContract Load(const std::string& yaml) {
    WriteFileAtomically(path_, yaml);
    return LoadContract(path_);
  }

  TestDir dir_;
  std::string path_ = dir_ / "a.yaml";
};

TEST_F(PolicyContractTest, TheTemplateIsAContract) {
  const ActionHead head = HeadFromContract(Load(ContractTemplate()), path_);
  EXPECT_EQ(head.kind, OutputKind::kMeanLogStd);
  EXPECT_EQ(head.squash, Squash::kTanh);
  EXPECT_EQ(head.low, VectorF(VectorF::Constant(6, -1.0f)));
  EXPECT_FALSE(TransformFromContract(Load(ContractTemplate()), path_).normalizer.has_value());
}

TEST_F(PolicyContractTest, OneNumberStandsForAllActions) {
  const std::string base = "{obs_dim: 3, action_dim: 2, output: mean, ";
  EXPECT_EQ(HeadFromContract(Load(base + "log_std: [-1]}"), path_).log_std,
            VectorF(VectorF::Constant(2, -1.0f)));
  EXPECT_EQ(HeadFromContract(Load(base + "log_std: [-1, 2]}"), path_).log_std,
            (VectorF{{-1.0f, 2.0f}}));
  EXPECT_THAT([&] { HeadFromContract(Load(base + "log_std: [-1, 2, 3]}"), path_); },
              ThrowsMessage<PolicyError>(HasSubstr("log_std has 3 numbers, expected 1 or")));
}

TEST_F(PolicyContractTest, MissingAndMisspelledFieldsAreNamed) {
  EXPECT_THAT([&] { HeadFromContract(Load("{obs_dim: 3}"), path_); },
              ThrowsMessage<PolicyError>(AllOf(HasSubstr("action_dim 0"), HasSubstr("output "
                                                                                    "missing"))));
  EXPECT_THAT([&] { Load("obs_dims: 3\n"); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("a.yaml:1"), HasSubstr("'obs_dim'"))));
  EXPECT_THAT([&] { Load("output: mode\n"); },
              ThrowsMessage<ConfigError>(HasSubstr("mean_log_std")));
}

TEST_F(PolicyContractTest, TheNormalizerComesFromListsOrFromAFileBesideTheContract) {
  const std::string base = "{obs_dim: 2, action_dim: 1, output: action, normalizer: ";
  const auto transform = TransformFromContract(
      Load(base + "{mean: [1, 2], variance: [3, 4], clip: 5, epsilon: 1e-6}}"), path_);
  ASSERT_TRUE(transform.normalizer.has_value());
  EXPECT_EQ(transform.normalizer->mean(), (VectorD{{1.0, 2.0}}));
  EXPECT_EQ(transform.normalizer->clip(), 5.0);

  NpzFile file;
  file.Put("mean", std::vector<double>{5.0, 6.0});
  file.Put("var", std::vector<double>{7.0, 8.0});
  file.Write(dir_ / "stats.npz");
  const PolicyContract named = Load(base + "{file: stats.npz}}");
  EXPECT_EQ(StatisticsPath(named, path_), dir_ / "stats.npz");
  EXPECT_EQ(TransformFromContract(named, path_).normalizer->variance(), (VectorD{{7.0, 8.0}}));

  EXPECT_THAT([&] { TransformFromContract(Load(base + "{mean: [1], variance: [3]}}"), path_); },
              ThrowsMessage<PolicyError>(HasSubstr("normalizer.mean has 1 values, expected 2")));
  EXPECT_THAT([&] { TransformFromContract(Load(base + "{file: none.npz}}"), path_); },
              ThrowsMessage<PolicyError>(HasSubstr("none.npz")));
}

TEST_F(PolicyContractTest, ATimeFeatureIsAnInputMoreForTheNormalizer) {
  const auto transform = TransformFromContract(
      Load("{obs_dim: 1, action_dim: 1, output: action, time_feature_steps: 50, normalizer: "
           "{mean: [1, 2], variance: [3, 4]}}"),
      path_);
  EXPECT_EQ(transform.time_feature_steps, 50);
  EXPECT_EQ(transform.normalizer->mean().size(), 2);
}

}  // namespace
}  // namespace lfiw::policies
