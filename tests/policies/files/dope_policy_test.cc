#include "policies/files/dope_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "policies/normal_density.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// One hidden unit: h = relu(x0 - x1), mean = 2 h + 0.1, log_std = h - 3.
NpzFile DopeArrays(const std::string& separator = "/") {
  NpzFile file;
  const auto put = [&](const std::string& layer, const MatrixF& weight, float bias) {
    file.Put(layer + separator + "weight", weight);
    file.Put(layer + separator + "bias", VectorF(VectorF::Constant(1, bias)));
  };
  put("fc0", MatrixF{{1.0f, -1.0f}}, 0.0f);
  put("last_fc", MatrixF{{2.0f}}, 0.1f);
  put("last_fc_log_std", MatrixF{{1.0f}}, -3.0f);
  file.Put("nonlinearity", std::string("relu"));
  file.Put("output_distribution", std::string("tanh_gaussian"));
  return file;
}

float Act(const Policy& policy, float x0, float x1, float noise) {
  MatrixF action(1, 1);
  policy.Sample(MatrixF{{x0, x1}}, std::vector<std::int64_t>{0}, MatrixF{{noise}}, action);
  return action(0, 0);
}

TEST(DopePolicyTest, ActionIsTheSquashedGaussianOfTheLayers) {
  for (const char* separator : {"/", "."}) {
    const NpzFile file = DopeArrays(separator);
    ASSERT_TRUE(IsDopePolicy(file));
    const auto policy = PolicyFromDope(file, "a");
    EXPECT_NEAR(Act(*policy, 0.5f, 0.25f, 2.0f), std::tanh(0.6 + 2.0 * std::exp(-2.75)), 1e-6);
    EXPECT_NEAR(Act(*policy, 0.0f, 1.0f, 0.0f), std::tanh(0.1), 1e-6);
    // the log deviation is clamped at 2
    EXPECT_NEAR(Act(*policy, 9.0f, 0.0f, -2.4f), std::tanh(18.1 - 2.4 * std::exp(2.0)), 1e-6);
  }
}

TEST(DopePolicyTest, DensityIsThatOfTheSquashedGaussian) {
  const auto policy = PolicyFromDope(DopeArrays(), "a");
  std::vector<double> density(1);
  policy->LogDensity(MatrixF{{0.5f, 0.25f}}, std::vector<std::int64_t>{0}, MatrixF{{0.5f}},
                     VectorD{{-1.0}}, VectorD{{1.0}}, density);
  EXPECT_NEAR(density[0], LogSquashedDensity(0.5, {0.6, std::exp(-2.75)}, -1.0, 1.0), 1e-4);
}

TEST(DopePolicyTest, AGaussianWithTanhUnitsIsNotSquashed) {
  NpzFile file = DopeArrays();
  file.Put("nonlinearity", std::string("tanh"));
  file.Put("output_distribution", std::string("gaussian"));
  EXPECT_NEAR(Act(*PolicyFromDope(file, "a"), 3.0f, 1.0f, 0.0f), 2.0 * std::tanh(2.0) + 0.1, 1e-6);
}

TEST(DopePolicyTest, D4rlMetadataIsFoundUnderThePolicyGroup) {
  NpzFile metadata;
  const NpzFile arrays = DopeArrays();
  for (const auto& [name, array] : arrays.arrays()) metadata.Put("policy/" + name, array);
  metadata.Put("algorithm", std::string("SAC"));
  const auto policy = PolicyFromD4rlMetadata(metadata, "a.hdf5");
  EXPECT_EQ(Act(*policy, 0.5f, 0.25f, 2.0f),
            Act(*PolicyFromDope(DopeArrays(), ""), 0.5f, 0.25f, 2.0f));
  NpzFile none;
  none.Put("algorithm", std::string("human"));
  EXPECT_THAT([&] { PolicyFromD4rlMetadata(none, "a.hdf5"); },
              ThrowsMessage<PolicyError>(HasSubstr("a.hdf5: holds no behavior policy")));
}

TEST(DopePolicyTest, WrongArraysAreNamed) {
  NpzFile mixture = DopeArrays();
  mixture.Put("output_distribution", std::string("mixture"));
  EXPECT_THAT([&] { PolicyFromDope(mixture, "a"); },
              ThrowsMessage<PolicyError>(AllOf(HasSubstr("output_distribution is 'mixture'"),
                                               HasSubstr("tanh_gaussian"))));
  NpzFile heads = DopeArrays();
  heads.Put("last_fc_log_std/weight", MatrixF{{1.0f, 2.0f}});
  EXPECT_THAT([&] { PolicyFromDope(heads, "a"); },
              ThrowsMessage<PolicyError>(HasSubstr("last_fc_log_std 2")));
  NpzFile gap = DopeArrays();
  gap.Put("fc0/weight", MatrixF{{1.0f, -1.0f}, {0.0f, 0.0f}});
  EXPECT_THAT([&] { PolicyFromDope(gap, "a"); }, ThrowsMessage<PolicyError>(HasSubstr("layer 0")));
}

}  // namespace
}  // namespace lfiw::policies
