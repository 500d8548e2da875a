#include "envs/linear_gaussian_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "envs/env_registry.h"
#include "tests/envs/independent_shift.h"

namespace lfiw::envs {
namespace {

using Vector = std::vector<double>;

TEST(LinearGaussianEnv, WithoutNoiseFollowsTheRecursion) {
  LinearGaussianSystem system = ScalarLinearGaussian();
  system.noise_covariance.setZero();
  const auto env = MakeLinearGaussianFactory(system)->Make();
  Stream stream(1, "reset");
  Vector x(1);
  env->Reset(stream, x);
  EXPECT_EQ(x[0], 1.0);
  const StepResult result = env->Step(Vector{2.0}, x, {});
  EXPECT_DOUBLE_EQ(x[0], 0.9 + 0.5 * 2.0);
  EXPECT_DOUBLE_EQ(result.reward, -(1.0 + 0.1 * 4.0));
  EXPECT_FALSE(result.terminated);
}

TEST(LinearGaussianEnv, HasUnboundedActionsAndNoAux) {
  const EnvSpec spec = FindEnv("linear_gaussian")->spec();
  EXPECT_EQ(spec.action_low(0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(spec.action_high(0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(spec.aux_dim(), 0);
}

TEST(LinearGaussianEnv, EpisodesDifferWithinAStreamAndRepeatFromEqualStreams) {
  const auto env = FindEnv("LinearGaussian")->Make();
  const auto first_state = [&](Stream& stream) {
    Vector x(1);
    env->Reset(stream, x);
    env->Step(Vector{0.0}, x, {});
    return x[0];
  };
  Stream stream(1, "episodes");
  Stream copy = stream;
  const double first = first_state(stream);
  EXPECT_NE(first_state(stream), first);
  EXPECT_EQ(first_state(copy), first);
}

TEST(LinearGaussianEnv, RefusesASavedStateWithoutAValidSeed) {
  const auto env = FindEnv("LinearGaussian")->Make();
  for (const double value : {std::nan(""), -1.0, 0x1p32}) {
    EXPECT_THAT(
        [&] {
          env->LoadState(Vector{0.0, 0.0, value, 0.0});
        },
        testing::ThrowsMessage<DataError>(testing::HasSubstr("value 2 of the state")));
  }
}

TEST(LinearGaussianEnv, MeanReturnAgreesWithTheClosedForm) {
  constexpr int kEpisodes = 2000;
  constexpr double kDiscount = 0.95;
  const auto env = FindEnv("LinearGaussian")->Make();
  double sum = 0.0;
  double squares = 0.0;
  for (std::uint64_t episode = 0; episode < kEpisodes; ++episode) {
    Stream stream(1, "return", {episode});
    Vector x(1);
    env->Reset(stream, x);
    Stream policy(1, "policy", {episode});
    double value = 0.0;
    for (int t = 0; t < 50; ++t) {
      const double action = -0.6 * x[0] + 0.2 * policy.Normal();
      value += std::pow(kDiscount, t) * env->Step(Vector{action}, x, {}).reward;
    }
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kEpisodes;
  const double standard_error = std::sqrt((squares / kEpisodes - mean * mean) / kEpisodes);
  EXPECT_LT(standard_error, 0.05);
  EXPECT_NEAR(mean, -4.390692491, 4.0 * standard_error);
}

TEST(LinearGaussianEnv, CorrelatedNoiseHasItsCovariance) {
  LinearGaussianSystem system = ZeroLinearGaussian(2, 1);
  system.initial_covariance << 1.0, 0.8, 0.8, 1.0;
  system.noise_covariance << 2.0, -1.0, -1.0, 1.0;
  const auto env = MakeLinearGaussianFactory(system)->Make();
  constexpr int kDraws = 20'000;
  double initial = 0.0;
  double noise = 0.0;
  Stream stream(1, "covariance");
  for (int i = 0; i < kDraws; ++i) {
    Vector x(2);
    env->Reset(stream, x);
    initial += x[0] * x[1] / kDraws;
    env->Step(Vector{0.0}, x, {});
    noise += x[0] * x[1] / kDraws;
  }
  // var(xy) = s_xx s_yy + s_xy^2, four standard errors
  EXPECT_NEAR(initial, 0.8, 4.0 * std::sqrt((1.0 + 0.64) / kDraws));
  EXPECT_NEAR(noise, -1.0, 4.0 * std::sqrt((2.0 + 1.0) / kDraws));
}

TEST(LinearGaussianEnv, TaskRulesGiveTheSameRewards) {
  const auto factory = MakeLinearGaussianFactory(IndependentShift(0.5));
  const auto functions = factory->MakeTaskRules();
  MatrixF states(2, 1), actions(2, 1), next(2, 1);
  states << 1.0f, 2.0f;
  actions << 0.0f, 3.0f;
  next << -0.25f, 4.5f;
  Vector rewards(2);
  functions->Rewards(states, actions, next, MatrixF(2, 0), rewards);
  EXPECT_EQ(rewards, (Vector{-0.25, 4.5}));
  std::vector<std::uint8_t> terminated(2, 1);
  functions->Terminated(states, actions, next, terminated);
  EXPECT_EQ(terminated, (std::vector<std::uint8_t>{0, 0}));
}

TEST(LinearGaussianEnv, RefusesAnActionThatIsNotANumber) {
  const auto env = FindEnv("LinearGaussian")->Make();
  Stream stream(1, "nan");
  Vector x(1);
  env->Reset(stream, x);
  EXPECT_THAT([&] { env->Step(Vector{std::nan("")}, x, {}); },
              testing::ThrowsMessage<NumericError>(testing::HasSubstr("action 0 is nan")));
}

}  // namespace
}  // namespace lfiw::envs
