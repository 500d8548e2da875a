#include "models/dynamics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include "core/error.h"
#include "models/losses.h"
#include "tests/core/test_dir.h"

namespace lfiw::models {
namespace {

using ::testing::ElementsAre;

// Members without hidden layers and with zero weights: member k says mean k + 1 and raw
// log-variance -1 for every outcome, in scaled units.
std::vector<Mlp> ConstantNetworks(const DynamicsScalers& scalers, std::int64_t members,
                                  DynamicsKind kind) {
  const std::int64_t d = scalers.outcome_dim();
  const std::int64_t outputs = kind == DynamicsKind::kGaussian ? 2 * d : d;
  std::vector<Mlp> networks;
  for (std::int64_t k = 0; k < members; ++k) {
    networks.emplace_back(
        scalers.input_dim(), outputs,
        MlpOptions{.hidden_layers = 0, .width = 1, .activation = {}, .precision = {}},
        Stream(1, "w"));
    networks.back().parameters().setZero();
    networks.back().parameters().tail(outputs).head(d).setConstant(static_cast<float>(k + 1));
    if (outputs > d) networks.back().parameters().tail(d).setConstant(-1.0f);
  }
  return networks;
}

VectorF Vector(std::initializer_list<float> values) {
  VectorF out(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

// Two states, of which the second keeps a constant change of 0.25; one action; one aux value.
DynamicsScalers TestScalers() {
  DynamicsScalers scalers{Scaler(Vector({0, 0}), Vector({1, 1})), Scaler(Vector({0}), Vector({1})),
                          Scaler(Vector({0.5f, 0.25f}), Vector({2, 1})),
                          Scaler(Vector({10}), Vector({4}))};
  scalers.changes.Drop(std::vector<std::int64_t>{1});
  return scalers;
}

DynamicsEnsemble TestEnsemble(DynamicsKind kind) {
  const DynamicsScalers scalers = TestScalers();
  return DynamicsEnsemble(kind, scalers, ConstantNetworks(scalers, 2, kind));
}

// log-variance of the test networks after the soft clamp
double LogVariance() {
  MatrixF raw = MatrixF::Constant(1, 1, -1.0f), log_variance(1, 1);
  SoftClampLogVariance(raw, log_variance);
  return static_cast<double>(log_variance(0, 0));
}

struct Batch {
  MatrixF states = MatrixF::Random(4, 2), actions = MatrixF::Random(4, 1);
  MatrixF next_states = MatrixF::Zero(4, 2), aux = MatrixF::Zero(4, 1);
  std::vector<std::int64_t> member = {1, 0, 1, 0};
};

TEST(DynamicsEnsemble, SampleIsMeanPlusDeviationTimesNoise) {
  const DynamicsEnsemble ensemble = TestEnsemble(DynamicsKind::kGaussian);
  ASSERT_EQ(ensemble.noise_dim(), 2);
  Batch b;
  MatrixF noise(4, 2);
  noise << 0, 0, 1, -1, 0.5f, 2, -2, 0.25f;
  ensemble.Sample(b.states, b.actions, b.member, noise, b.next_states, b.aux);
  const auto sd = static_cast<float>(std::exp(0.5 * LogVariance()));
  for (Eigen::Index i = 0; i < 4; ++i) {
    const auto mean = static_cast<float>(b.member[static_cast<std::size_t>(i)] + 1);
    EXPECT_NEAR(b.next_states(i, 0), b.states(i, 0) + 0.5f + 2.0f * (mean + sd * noise(i, 0)),
                1e-5);
    EXPECT_NEAR(b.aux(i, 0), 10.0f + 4.0f * (mean + sd * noise(i, 1)), 1e-5);
  }
}

TEST(DynamicsEnsemble, DimensionsOfConstantChangeFollowIt) {
  const DynamicsEnsemble ensemble = TestEnsemble(DynamicsKind::kGaussian);
  EXPECT_THAT(ensemble.FixedStateDims(), ElementsAre(1));
  Batch b;
  ensemble.Sample(b.states, b.actions, b.member, MatrixF::Random(4, 2), b.next_states, b.aux);
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_EQ(b.next_states(i, 1), b.states(i, 1) + 0.25f);
  }
}

TEST(DynamicsEnsemble, DeterministicSampleIsItsMean) {
  const DynamicsEnsemble ensemble = TestEnsemble(DynamicsKind::kDeterministic);
  EXPECT_EQ(ensemble.noise_dim(), 0);
  Batch b, mean;
  mean.states = b.states;
  mean.actions = b.actions;
  ensemble.Sample(b.states, b.actions, b.member, MatrixF(4, 0), b.next_states, b.aux);
  ensemble.Mean(b.states, b.actions, b.member, mean.next_states, mean.aux);
  EXPECT_EQ(b.next_states, mean.next_states);
  EXPECT_EQ(b.aux, mean.aux);
}

TEST(DynamicsEnsemble, LogDensityEqualsTheNormalDensityInDataUnits) {
  const DynamicsEnsemble ensemble = TestEnsemble(DynamicsKind::kGaussian);
  Batch b;
  b.next_states = MatrixF::Random(4, 2);
  b.aux = MatrixF::Random(4, 1) * 5.0f;
  std::vector<double> log_density(4);
  ensemble.LogDensity(b.states, b.actions, b.next_states, b.aux, b.member, log_density);
  const auto normal = [](double x, double mean, double sd) {
    return -0.5 * std::pow((x - mean) / sd, 2) - std::log(sd) -
           0.5 * std::log(2.0 * std::numbers::pi);
  };
  const double sd = std::exp(0.5 * LogVariance());
  for (Eigen::Index i = 0; i < 4; ++i) {
    const auto k = static_cast<double>(b.member[static_cast<std::size_t>(i)] + 1);
    const double change = b.next_states(i, 0) - b.states(i, 0);
    EXPECT_NEAR(
        log_density[static_cast<std::size_t>(i)],
        normal(change, 0.5 + 2.0 * k, 2.0 * sd) + normal(b.aux(i, 0), 10.0 + 4.0 * k, 4.0 * sd),
        1e-4);
  }
}

TEST(DynamicsEnsemble, MixtureDensityIntegratesToOne) {
  DynamicsScalers scalers = TestScalers();
  scalers.aux.Drop(std::vector<std::int64_t>{0});  // one learned outcome is left
  const DynamicsEnsemble ensemble(DynamicsKind::kGaussian, scalers,
                                  ConstantNetworks(scalers, 2, DynamicsKind::kGaussian));
  constexpr Eigen::Index kPoints = 4000;
  constexpr double kWidth = 0.01;
  MatrixF states = MatrixF::Zero(kPoints, 2), actions = MatrixF::Zero(kPoints, 1);
  MatrixF next_states = MatrixF::Zero(kPoints, 2), aux = MatrixF::Zero(kPoints, 1);
  for (Eigen::Index i = 0; i < kPoints; ++i) {
    next_states(i, 0) = static_cast<float>(kWidth * static_cast<double>(i) - 15.0);
  }
  std::vector<double> log_density(kPoints);
  ensemble.MixtureLogDensity(states, actions, next_states, aux, log_density);
  double integral = 0.0;
  for (const double x : log_density) integral += kWidth * std::exp(x);
  EXPECT_NEAR(integral, 1.0, 1e-4);
}

TEST(DynamicsEnsemble, DeterministicMembersHaveNoDensity) {
  const DynamicsEnsemble ensemble = TestEnsemble(DynamicsKind::kDeterministic);
  Batch b;
  std::vector<double> log_density(4);
  EXPECT_THROW(
      ensemble.LogDensity(b.states, b.actions, b.next_states, b.aux, b.member, log_density),
      ConfigError);
}

TEST(DynamicsEnsemble, RowsDoNotDependOnTheMembersOfOthers) {
  const DynamicsScalers scalers = TestScalers();
  std::vector<Mlp> networks;
  for (std::uint64_t k = 0; k < 3; ++k) {
    networks.emplace_back(
        3, 4, MlpOptions{.hidden_layers = 1, .width = 8, .activation = {}, .precision = {}},
        Stream(1, "w", {k}));
  }
  const DynamicsEnsemble ensemble(DynamicsKind::kGaussian, scalers, std::move(networks));
  Batch mixed, alone;
  alone.states = mixed.states;
  alone.actions = mixed.actions;
  const MatrixF noise = MatrixF::Random(4, 2);
  mixed.member = {2, 0, 1, 2};
  ensemble.Sample(mixed.states, mixed.actions, mixed.member, noise, mixed.next_states, mixed.aux);
  for (const std::int64_t k : {0, 1, 2}) {
    alone.member.assign(4, k);
    ensemble.Sample(alone.states, alone.actions, alone.member, noise, alone.next_states, alone.aux);
    for (Eigen::Index i = 0; i < 4; ++i) {
      if (mixed.member[static_cast<std::size_t>(i)] != k) continue;
      EXPECT_TRUE(mixed.next_states.row(i).isApprox(alone.next_states.row(i), 1e-5f));
      EXPECT_TRUE(mixed.aux.row(i).isApprox(alone.aux.row(i), 1e-5f));
    }
  }
}

TEST(DynamicsEnsemble, CrossFittedEpisodesUseTheMembersThatSkippedThem) {
  const DynamicsScalers scalers = TestScalers();
  const DynamicsEnsemble ensemble(DynamicsKind::kGaussian, scalers,
                                  ConstantNetworks(scalers, 2, DynamicsKind::kGaussian),
                                  {{3, 4}, {5}});
  EXPECT_THAT(ensemble.MembersFor(4), ElementsAre(0));
  EXPECT_THAT(ensemble.MembersFor(5), ElementsAre(1));
  EXPECT_THAT(ensemble.MembersFor(9), ElementsAre(0, 1));
}

TEST(DynamicsEnsemble, LoadsWhatItSaved) {
  const DynamicsScalers scalers = TestScalers();
  const DynamicsEnsemble ensemble(DynamicsKind::kGaussian, scalers,
                                  ConstantNetworks(scalers, 2, DynamicsKind::kGaussian),
                                  {{3, 4}, {}});
  const std::string path = TestFile("dynamics.npz");
  ensemble.Save(path);
  const DynamicsEnsemble loaded = DynamicsEnsemble::Load(path);
  Batch a, b;
  b.states = a.states;
  b.actions = a.actions;
  const MatrixF noise = MatrixF::Random(4, 2);
  ensemble.Sample(a.states, a.actions, a.member, noise, a.next_states, a.aux);
  loaded.Sample(b.states, b.actions, b.member, noise, b.next_states, b.aux);
  EXPECT_EQ(a.next_states, b.next_states);
  EXPECT_EQ(a.aux, b.aux);
  EXPECT_THAT(loaded.MembersFor(3), ElementsAre(0));
}

}  // namespace
}  // namespace lfiw::models
