#include "policies/behavior_cloning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"
#include "policies/files/policy_file.h"
#include "policies/normal_density.h"
#include "tests/core/test_dir.h"
#include "tests/models/change_fields.h"

namespace lfiw::policies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const ActionBounds kUnit = {VectorD{{-1.0}}, VectorD{{1.0}}};

// Episodes of 40 steps with independent states (x, constant 3): act(x, z) of a normal draw z.
EpisodeBatch MakeLog(std::int64_t episodes, std::int64_t action_dim,
                     const std::function<void(double x, Stream& noise, float* action)>& act) {
  constexpr std::int64_t kLength = 40;
  EpisodeBatch log;
  log.observations.resize(episodes * (kLength + 1), 2);
  log.actions.resize(episodes * kLength, action_dim);
  log.aux.resize(log.actions.rows(), 0);
  Stream stream(4, "log");
  for (std::int64_t e = 0; e < episodes; ++e) {
    for (std::int64_t t = 0; t <= kLength; ++t) {
      const double x = stream.Uniform(-1.0, 1.0);
      log.observations.row(e * (kLength + 1) + t) << static_cast<float>(x), 3.0f;
      if (t < kLength) act(x, stream, log.actions.row(e * kLength + t).data());
    }
    log.offsets.push_back((e + 1) * kLength);
    log.terminated.push_back(0);
  }
  log.rewards.assign(static_cast<std::size_t>(log.steps()), 0.0);
  return log;
}

double TrueMean(double x) { return 0.8 * x + 0.2; }
double TrueStd(double x) { return std::exp(-1.2 + 0.6 * x); }

EpisodeBatch ClippedLog(std::int64_t episodes) {
  return MakeLog(episodes, 1, [](double x, Stream& noise, float* action) {
    action[0] = static_cast<float>(std::clamp(TrueMean(x) + TrueStd(x) * noise.Normal(), -1., 1.));
  });
}

CloningOptions Small(CloneKind kind, std::int64_t steps = 1500) {
  CloningOptions options;
  options.kind = kind;
  options.network = {
      .hidden_layers = 1, .width = 32, .activation = Activation::kTanh, .precision = {}};
  options.fit.steps = steps;
  options.fit.batch = 128;
  options.fit.validate_every = steps / 5;
  options.fit.adam.learning_rate = 5e-3;
  return options;
}

// Mean and deviation of the policy's Gaussian at x.
std::pair<double, double> GaussianAt(const NetworkPolicy& policy, float x) {
  const std::vector<std::int64_t> steps = {0};
  MatrixF mean(1, 1), above(1, 1);
  policy.Mean(MatrixF{{x, 3.0f}}, steps, mean);
  policy.Sample(MatrixF{{x, 3.0f}}, steps, MatrixF{{1.0f}}, above);
  if (policy.parts().head.squash == Squash::kTanh) {
    mean(0, 0) = std::atanh(mean(0, 0));
    above(0, 0) = std::atanh(above(0, 0));
  }
  return {mean(0, 0), above(0, 0) - mean(0, 0)};
}

TEST(BehaviorCloningTest, FindsMeanAndDeviationOfClippedActions) {
  const BehaviorClone clone = CloneBehavior(ClippedLog(300), kUnit, Small(CloneKind::kGaussian), 1);
  for (const float x : {-0.8f, 0.0f, 0.8f}) {
    // without censoring the deviation at 0.8, where a quarter of the draws are clipped, would be
    // far too small
    const auto [mean, std] = GaussianAt(*clone.policy, x);
    EXPECT_NEAR(mean, TrueMean(x), 0.06) << x;
    EXPECT_NEAR(std / TrueStd(x), 1.0, 0.15) << x;
  }
  EXPECT_THAT(clone.summary.constant_obs_dims, ElementsAre(1));
  EXPECT_EQ(clone.summary.train_episodes, 270);
  EXPECT_EQ(clone.summary.validation_episodes, 30);
}

TEST(BehaviorCloningTest, HeldOutLikelihoodComesNearTheTrueOne) {
  const EpisodeBatch log = ClippedLog(300);
  const BehaviorClone clone = CloneBehavior(log, kUnit, Small(CloneKind::kGaussian), 1);
  double expected = 0.0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t < log.Length(e); ++t) {
      const double x = log.observations(log.ObservationRow(e, t), 0);
      expected += LogCensoredDensity(log.actions(log.offsets[std::size_t(e)] + t, 0), TrueMean(x),
                                     TrueStd(x), -1.0, 1.0);
    }
  }
  // 1200 held-out steps: three standard errors of their mean are 0.07
  EXPECT_NEAR(clone.summary.held_out_log_likelihood, expected / double(log.steps()), 0.08);
}

TEST(BehaviorCloningTest, FindsTheGaussianBeforeSquashing) {
  const EpisodeBatch log = MakeLog(300, 1, [](double x, Stream& noise, float* action) {
    action[0] = static_cast<float>(std::tanh(TrueMean(x) + TrueStd(x) * noise.Normal()));
  });
  const BehaviorClone clone = CloneBehavior(log, kUnit, Small(CloneKind::kTanhGaussian), 1);
  for (const float x : {-0.8f, 0.0f, 0.8f}) {
    const auto [mean, std] = GaussianAt(*clone.policy, x);
    EXPECT_NEAR(mean, TrueMean(x), 0.06) << x;
    EXPECT_NEAR(std / TrueStd(x), 1.0, 0.15) << x;
  }
}

TEST(BehaviorCloningTest, FindsTheProbabilitiesOfDiscreteActions) {
  const auto probability = [](double x) { return 1.0 / (1.0 + std::exp(-2.0 * x)); };
  const EpisodeBatch log = MakeLog(300, 2, [&](double x, Stream& noise, float* action) {
    const bool first = noise.Uniform() < probability(x);
    action[0] = first ? 1.0f : 0.0f;
    action[1] = first ? 0.0f : 1.0f;
  });
  const BehaviorClone clone =
      CloneBehavior(log, BoundsOfActions(log.actions), Small(CloneKind::kCategorical, 600), 1);
  EXPECT_EQ(clone.policy->discrete_actions(), 2);
  for (const float x : {-0.8f, 0.0f, 0.8f}) {
    std::vector<double> density(1);
    clone.policy->LogDensity(MatrixF{{x, 3.0f}}, std::vector<std::int64_t>{0},
                             MatrixF{{1.0f, 0.0f}}, VectorD(2), VectorD(2), density);
    EXPECT_NEAR(std::exp(density[0]), probability(x), 0.05) << x;
  }
}

// The bytes of a fit's policy file.
std::string Bytes(const BehaviorClone& clone) {
  const TestDir dir;
  SaveNetworkPolicy(*clone.policy, dir / "a.npz");
  return ReadFile(dir / "a.npz");
}

TEST(BehaviorCloningTest, ThreadsAndResumingDoNotChangeABit) {
  const EpisodeBatch log = ClippedLog(20);
  const CloningOptions options = Small(CloneKind::kGaussian, 100);
  SetThreads(1);
  const std::string one = Bytes(CloneBehavior(log, kUnit, options, 1));
  SetThreads(0);
  EXPECT_EQ(Bytes(CloneBehavior(log, kUnit, options, 1)), one);
  EXPECT_NE(Bytes(CloneBehavior(log, kUnit, options, 2)), one);

  // interrupted at once, then resumed from its checkpoint
  const TestDir dir;
  InterruptRequested() = true;
  EXPECT_THROW(CloneBehavior(log, kUnit, options, 1, {.folder = dir.path()}), Interrupted);
  InterruptRequested() = false;
  EXPECT_EQ(Bytes(CloneBehavior(log, kUnit, options, 1, {.folder = dir.path()})), one);
  EXPECT_EQ(dir.Count(), 1);
}

TEST(BehaviorCloningTest, TheSavedPolicyIsAPolicyFileWithTheSameDensities) {
  const EpisodeBatch log = ClippedLog(20);
  const BehaviorClone clone = CloneBehavior(log, kUnit, Small(CloneKind::kGaussian, 100), 1);
  const TestDir dir;
  SaveNetworkPolicy(*clone.policy, dir / "clone.npz");
  const auto loaded = LoadPolicy(dir / "clone.npz");
  const MatrixF observations = log.observations.topRows(40), actions = log.actions.topRows(40);
  const std::vector<std::int64_t> steps(40);
  std::vector<double> a(40), b(40);
  clone.policy->LogDensity(observations, steps, actions, kUnit.low, kUnit.high, a);
  loaded->LogDensity(observations, steps, actions, kUnit.low, kUnit.high, b);
  EXPECT_EQ(a, b);
}

TEST(BehaviorCloningTest, WhatCannotBeClonedIsNamed) {
  const EpisodeBatch log = ClippedLog(2);
  const ActionBounds open = {VectorD{{-kInfinity}}, VectorD{{1.0}}};
  EXPECT_THAT([&] { CloneBehavior(log, open, Small(CloneKind::kTanhGaussian), 1); },
              ThrowsMessage<ConfigError>(HasSubstr("action 0 has the bounds [-inf, 1]")));
  EXPECT_THAT([&] { CloneBehavior(log, kUnit, Small(CloneKind::kCategorical), 1); },
              ThrowsMessage<DataError>(HasSubstr("expected a single 1 among zeros")));
  EXPECT_THAT([&] { CloneBehavior(ClippedLog(1), kUnit, Small(CloneKind::kGaussian), 1); },
              ThrowsMessage<DataError>(HasSubstr("expected at least 2")));
  CloningOptions options = Small(CloneKind::kGaussian);
  options.log_std_range = {1.0};
  EXPECT_THAT([&] { CloneBehavior(log, kUnit, options, 1); },
              ThrowsMessage<ConfigError>(HasSubstr("log_std_range")));
}

TEST(BehaviorCloningTest, RefusesTheCheckpointOfOtherOptions) {
  const EpisodeBatch log = ClippedLog(6);
  ExpectEveryFieldCounts(TinyFit<CloningOptions>(), [&](const auto& options, const FitRun& run) {
    CloneBehavior(log, kUnit, options, 3, run);
  });
}

}  // namespace
}  // namespace lfiw::policies
