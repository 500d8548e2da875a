#include "policies/files/network_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "tests/core/test_dir.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;

MatrixF RandomMatrix(std::int64_t rows, std::int64_t columns, std::uint64_t index) {
  MatrixF m(rows, columns);
  Stream(8, "matrix", {index}).FillNormal(std::span<float>(m.data(), std::size_t(m.size())));
  return m;
}

// 3 observations and a time feature to 2 tanh-squashed actions.
std::unique_ptr<NetworkPolicy> MakePolicy() {
  NetworkPolicyParts parts;
  parts.network = std::make_unique<DenseNetwork>(
      std::vector<DenseLayer>{{RandomMatrix(4, 16, 0), RandomMatrix(16, 1, 1)},
                              {0.05f * RandomMatrix(16, 4, 2), 0.3f * RandomMatrix(4, 1, 3)}},
      Activation::kRelu, "test");
  parts.head.kind = OutputKind::kMeanLogStd;
  parts.head.action_dim = 2;
  parts.head.squash = Squash::kTanh;
  parts.head.low = VectorF{{-1.0f, -0.5f}};
  parts.head.high = VectorF{{1.0f, 0.5f}};
  parts.transform.time_feature_steps = 100;
  parts.transform.normalizer.emplace(4, 5.0, 1e-3);
  parts.transform.normalizer->SetStatistics(VectorD{{0.5, -1.0, 0.0, 0.5}},
                                            VectorD{{4.0, 0.25, 1.0, 0.1}});
  parts.origin = "made by hand";
  return std::make_unique<NetworkPolicy>(std::move(parts), "test");
}

std::vector<std::int64_t> Steps(std::int64_t count) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(count));
  std::iota(steps.begin(), steps.end(), std::int64_t{0});
  return steps;
}

MatrixF SampleOf(const Policy& policy, const MatrixF& observations) {
  MatrixF actions(observations.rows(), policy.action_dim());
  policy.Sample(observations, Steps(observations.rows()),
                RandomMatrix(observations.rows(), policy.noise_dim(), 9), actions);
  return actions;
}

TEST(NetworkPolicyTest, TheNetworkSeesTheScaledObservationAndTimeFeature) {
  const auto policy = MakePolicy();
  const MatrixF observations = RandomMatrix(1, 3, 4);
  MatrixF input(1, 4);
  const double mean[] = {0.5, -1.0, 0.0, 0.5}, variance[] = {4.0, 0.25, 1.0, 0.1};
  for (int j = 0; j < 4; ++j) {
    const double x = j < 3 ? static_cast<double>(observations(0, j)) : 1.0 - 30.0 / 100.0;
    input(0, j) = static_cast<float>(
        std::min(5.0, std::max(-5.0, (x - mean[j]) / std::sqrt(variance[j] + 1e-3))));
  }
  MatrixF outputs(1, 4), action(1, 2);
  policy->parts().network->Forward(input, outputs);
  policy->Mean(observations, std::vector<std::int64_t>{30}, action);
  EXPECT_NEAR(action(0, 0), std::tanh(outputs(0, 0)), 1e-6);
  EXPECT_NEAR(action(0, 1), 0.5 * std::tanh(outputs(0, 1)), 1e-6);
  EXPECT_EQ(policy->obs_dim(), 3);
}

TEST(NetworkPolicyTest, ARowIsTheSameInEveryBatchToTheBit) {
  const auto policy = MakePolicy();
  const MatrixF observations = RandomMatrix(150, 3, 4), noise = RandomMatrix(150, 2, 5);
  const auto steps = Steps(150);
  MatrixF batch(150, 2), single(150, 2);
  policy->Sample(observations, steps, noise, batch);
  for (Eigen::Index i = 0; i < 150; ++i) {
    policy->Sample(observations.middleRows(i, 1), std::span(steps).subspan(std::size_t(i), 1),
                   noise.middleRows(i, 1), single.middleRows(i, 1));
  }
  EXPECT_EQ(batch, single);
}

TEST(NetworkPolicyTest, DensityOfItsOwnDrawsIsFiniteAndIntegratesToOne) {
  const auto policy = MakePolicy();
  // over a grid of both actions in the interior, at one observation
  constexpr int kCells = 400;
  const std::int64_t n = kCells * kCells;
  MatrixF actions(n, 2);
  const MatrixF observations = RandomMatrix(1, 3, 4).replicate(n, 1);
  for (int i = 0; i < kCells; ++i) {
    for (int j = 0; j < kCells; ++j) {
      actions(i * kCells + j, 0) = (static_cast<float>(i) + 0.5f) * 2.0f / kCells - 1.0f;
      actions(i * kCells + j, 1) = (static_cast<float>(j) + 0.5f) * 1.0f / kCells - 0.5f;
    }
  }
  std::vector<double> density(static_cast<std::size_t>(n));
  policy->LogDensity(observations, std::vector<std::int64_t>(density.size(), 7), actions,
                     VectorD{{-1.0, -0.5}}, VectorD{{1.0, 0.5}}, density);
  double mass = 0.0;
  for (const double d : density) mass += std::exp(d) * (2.0 / kCells) * (1.0 / kCells);
  EXPECT_NEAR(mass, 1.0, 2e-3);
}

TEST(NetworkPolicyTest, LoadedPolicyActsLikeTheSavedOneToTheBit) {
  const TestDir dir;
  const auto policy = MakePolicy();
  SaveNetworkPolicy(*policy, dir / "a.npz");
  const auto loaded = NetworkPolicyFromArrays(NpzFile::Read(dir / "a.npz"), dir / "a.npz");
  const MatrixF observations = RandomMatrix(20, 3, 4);
  EXPECT_EQ(SampleOf(*policy, observations), SampleOf(*loaded, observations));
  EXPECT_EQ(loaded->Description(), policy->Description());
  EXPECT_THAT(loaded->Description(),
              AllOf(HasSubstr("tanh-squashed Gaussian relu MLP 4-16-4"),
                    HasSubstr("time feature of 100 steps"), HasSubstr("made by hand")));
}

TEST(NetworkPolicyTest, DeterministicPoliciesHaveNoDensityAndSayWhy) {
  NetworkPolicyParts parts;
  parts.network = std::make_unique<DenseNetwork>(
      std::vector<DenseLayer>{{MatrixF::Identity(2, 2), VectorF::Zero(2)}}, Activation::kTanh, "");
  parts.head.action_dim = 2;
  parts.no_density = "for a reason";
  const NetworkPolicy policy(std::move(parts), "test");
  EXPECT_FALSE(policy.has_density());
  EXPECT_EQ(policy.DensityRefusal(), "for a reason");
  std::vector<double> density(1);
  EXPECT_THROW(
      policy.LogDensity(MatrixF(1, 2), Steps(1), MatrixF(1, 2), VectorD(2), VectorD(2), density),
      PolicyError);
}

// The message of the PolicyError for arrays that `change` has altered.
template <class Change>
std::string ErrorOf(const Change& change) {
  const TestDir dir;
  SaveNetworkPolicy(*MakePolicy(), dir / "a.npz");
  NpzFile file = NpzFile::Read(dir / "a.npz");
  change(file);
  try {
    NetworkPolicyFromArrays(file, "a.npz");
  } catch (const PolicyError& error) {
    return error.what();
  }
  return "no error";
}

TEST(NetworkPolicyTest, WrongArraysAreNamedWithWhatWasExpected) {
  EXPECT_THAT(ErrorOf([](NpzFile& f) { f.Put("output", std::string("mode")); }),
              AllOf(HasSubstr("output is 'mode'"), HasSubstr("mean_log_std")));
  EXPECT_THAT(ErrorOf([](NpzFile& f) { f.Put("activation", std::string("gelu")); }),
              AllOf(HasSubstr("activation is 'gelu'"), HasSubstr("silu, tanh, relu")));
  EXPECT_THAT(ErrorOf([](NpzFile& f) {
                f.Put("action_low", VectorF{{0.0f, 2.0f}});
              }),
              HasSubstr("action 1 is squashed to [2, 0.5]"));
  EXPECT_THAT(ErrorOf([](NpzFile& f) { f.Put("obs_mean", std::vector<double>{1.0}); }),
              HasSubstr("obs_mean has 1 values, expected 4"));
  EXPECT_THAT(ErrorOf([](NpzFile& f) { f.Put("obs_clip", std::vector<double>{-1.0}); }),
              HasSubstr("obs_clip is -1"));
  EXPECT_THAT(ErrorOf([](NpzFile& f) {
                f.Put("output", std::string("mean"));
                f.Put("squash", std::string("none"));
              }),
              HasSubstr("'log_std' is missing"));
  EXPECT_THAT(ErrorOf([](NpzFile& f) {
                f.Put("log_std_range", std::vector<float>{2.0f, 1.0f});
              }),
              HasSubstr("log_std_range is [2, 1]"));
  EXPECT_THAT(ErrorOf([](NpzFile& f) { f.Put("bias_1", VectorF{{0.0f}}); }), HasSubstr("layer 1"));
}

// One observation; its logits are 0 and `bias`.
std::unique_ptr<NetworkPolicy> MaskedPolicy(float bias, float weight = 0.0f) {
  NetworkPolicyParts parts;
  parts.network = std::make_unique<DenseNetwork>(
      std::vector<DenseLayer>{{MatrixF{{weight, weight}}, VectorF{{0.0f, bias}}}},
      Activation::kTanh, "test");
  parts.head.kind = OutputKind::kLogits;
  parts.head.action_dim = 2;
  return std::make_unique<NetworkPolicy>(std::move(parts), "masked.npz");
}

TEST(NetworkPolicyTest, ABiasOfMinusInfinityForbidsAnAction) {
  const float infinite = std::numeric_limits<float>::infinity();
  const auto policy = MaskedPolicy(-infinite);
  EXPECT_EQ(SampleOf(*policy, MatrixF::Ones(50, 1)).col(0), VectorF::Ones(50));
  std::vector<double> density(1);
  policy->LogDensity(MatrixF::Ones(1, 1), Steps(1), MatrixF{{0.0f, 1.0f}}, VectorD::Zero(2),
                     VectorD::Ones(2), density);
  EXPECT_EQ(density[0], -HUGE_VAL);
  EXPECT_THROW(MaskedPolicy(infinite), PolicyError);
}

TEST(NetworkPolicyTest, NamesTheObservationWhereItIsNotDefined) {
  const auto policy = MaskedPolicy(0.0f, 3e38f);
  MatrixF observations = MatrixF::Zero(3, 1);
  EXPECT_NO_THROW(SampleOf(*policy, observations));
  observations(2, 0) = -7.5f;  // overflows to -infinity for both
  const auto message =
      testing::ThrowsMessage<PolicyError>(AllOf(HasSubstr("masked.npz"), HasSubstr("every action"),
                                                HasSubstr("(-7.5)"), HasSubstr("step 2")));
  EXPECT_THAT([&] { SampleOf(*policy, observations); }, message);
  MatrixF actions(3, 2);
  EXPECT_THAT([&] { policy->Mean(observations, Steps(3), actions); }, message);
  actions = MatrixF::Zero(3, 2);
  actions.col(0).setOnes();
  std::vector<double> density(3);
  EXPECT_THAT(
      [&] {
        policy->LogDensity(observations, Steps(3), actions, VectorD::Zero(2), VectorD::Ones(2),
                           density);
      },
      message);
}

}  // namespace
}  // namespace lfiw::policies
