#include "ope/fits/regularized_lagrangian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "envs/linear_gaussian_env.h"
#include "ope/fits/logged_rows.h"
#include "tests/core/test_dir.h"
#include "tests/models/change_fields.h"
#include "tests/ope/linear_gaussian_model.h"
#include "tests/ope/scalar_log.h"
#include "tests/ope/two_state_log.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::array<double, 2> kLagrangianPolicy = {0.8, 0.3};
constexpr std::int64_t kLagrangianHorizon = TwoStates::kHorizon;

LagrangianOptions Small(LagrangianOptions options) {
  options.members = 1;
  options.network.width = 32;
  options.fit.steps = 2000;
  options.fit.batch = 128;
  options.fit.adam.learning_rate = 1e-3;
  return options;
}

LagrangianFit FitOn(const EpisodeBatch& log, const Policy& policy, const Estimand& estimand,
                    const LagrangianOptions& options, const FitRun& run = {}) {
  const auto env = MakeLinearGaussianFactory(ScalarLinearGaussian());
  return FitLagrangian({log, policy, env->spec(), estimand}, options, "test", 3, run);
}

LagrangianFit FitTwoStates(const Estimand& estimand, const LagrangianOptions& options) {
  return FitOn(TwoStates::Log(), TwoStatePolicy(kLagrangianPolicy), estimand, options);
}

// Root mean square error of the ratios over the log, whose spread is 0.5.
double RatioError(const LagrangianFit& fit) {
  const TwoStates system(kLagrangianPolicy);
  const EpisodeBatch log = TwoStates::Log();
  const Array<double, 2> ratios = LagrangianLogRatios(
      fit, log, IndexList(log.episodes()), FiniteHorizon(kLagrangianHorizon), kLagrangianHorizon);
  double squares = 0.0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t < kLagrangianHorizon; ++t) {
      const std::size_t s = log.observations(log.ObservationRow(e, t), 0) > 0.5f ? 1 : 0;
      const std::size_t a = log.actions(e * kLagrangianHorizon + t, 0) > 0.5f ? 1 : 0;
      const double exact = system.Visitation(t)[s][a] / TwoStates::LoggedVisitation(t)[s][a];
      squares += std::pow(std::exp(ratios(e, t)) - exact, 2);
    }
  }
  return std::sqrt(squares / static_cast<double>(log.steps()));
}

TEST(FitLagrangian, FindsTheRatiosOfATabularChainAsDualDice) {
  const LagrangianFit fit =
      FitTwoStates(FiniteHorizon(kLagrangianHorizon, 0.9), Small(DualDiceOptions()));
  EXPECT_LT(RatioError(fit), 0.1);
  EXPECT_NEAR(fit.value, TwoStates(kLagrangianPolicy).Value(kLagrangianHorizon, 0.9),
              0.1);  // about 3
  EXPECT_NEAR(fit.mean_weight, 1.0, 0.03);
  EXPECT_LT(fit.gap, 0.15);
  EXPECT_THAT(fit.notes, IsEmpty());
  EXPECT_FALSE(fit.primal_value.has_value());
}

TEST(FitLagrangian, FindsTheRatiosOfATabularChainAsGenDice) {
  const LagrangianFit fit =
      FitTwoStates(FiniteHorizon(kLagrangianHorizon, 0.9), Small(GenDiceOptions()));
  EXPECT_LT(RatioError(fit), 0.15);
  EXPECT_NEAR(fit.value, TwoStates(kLagrangianPolicy).Value(kLagrangianHorizon, 0.9), 0.15);
  EXPECT_NEAR(fit.mean_weight, 1.0, 0.05);
  EXPECT_LT(fit.gap, 0.15);
}

TEST(FitLagrangian, FindsThemOverAnInfiniteHorizonFromShortEpisodes) {
  // 200 steps leave 0.8^200 < 1e-19
  const double exact = TwoStates(kLagrangianPolicy).Value(200, 0.8);
  for (const LagrangianOptions& options : {DualDiceOptions(), GenDiceOptions()}) {
    const LagrangianFit fit = FitTwoStates(InfiniteHorizon(0.8), Small(options));
    EXPECT_NEAR(fit.value, exact, 0.04 * exact);
    EXPECT_NEAR(fit.mean_weight, 1.0, 0.05);
  }
}

TEST(FitLagrangian, FindsTheValueWithRewardsInTheProblem) {
  LagrangianOptions options = Small(DualDiceOptions());
  options.reward = RewardTerm::kOn;
  options.positivity = Positivity::kNone;
  options.normalization = Normalization::kMultiplier;
  const LagrangianFit fit = FitTwoStates(FiniteHorizon(kLagrangianHorizon, 0.9), options);
  const double exact = TwoStates(kLagrangianPolicy).Value(kLagrangianHorizon, 0.9);
  EXPECT_NEAR(fit.value, exact, 0.1);
  EXPECT_NEAR(fit.primal_value.value(), exact, 0.3);  // of 100 held-out episodes
}

TEST(FitLagrangian, FindsTheValueOfALinearGaussianSystem) {
  const EpisodeBatch log = ScalarLog(5, 500);
  const ScalarLinearPolicy policy(-0.6, 0.3);
  const QuadraticValue value =
      FiniteHorizonValue(ScalarLinearGaussian(), policy.AsLinearGaussian(), 5, 1.0);
  double exact = 0.0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const double x = log.observations(log.ObservationRow(e, 0), 0);
    exact += value(VectorD::Constant(1, x)) / static_cast<double>(log.episodes());
  }
  const LagrangianFit fit = FitOn(log, policy, FiniteHorizon(5), Small(DualDiceOptions()));
  // the log's own mean return is 0.6 below
  EXPECT_NEAR(fit.value, exact, 0.15);
  EXPECT_NEAR(fit.mean_weight, 1.0, 0.03);
}

TEST(FitLagrangian, CountsWhatTerminatedInItsMeanWeight) {
  // half of the episodes end after the first of two steps: zeta is 1 wherever it is asked for
  EpisodeBatch log;
  for (int k = 0; k < 20; ++k) {
    log = ConcatenateEpisodes(std::vector{log.episodes() == 0 ? ConstantLog(1, 1, 1.0, 1) : log,
                                          ConstantLog(1, 2, 1.0, 0), ConstantLog(1, 1, 1.0, 1)});
  }
  LagrangianOptions options = Small(DualDiceOptions());
  options.fit.steps = 1000;
  const LagrangianFit fit = FitOn(log, ScalarLinearPolicy(0.0, 0.0), FiniteHorizon(2), options);
  const double share = 20.0 / 41.0;  // of episodes that go on
  EXPECT_NEAR(fit.value, 1.0 + share, 0.05);
  EXPECT_NEAR(fit.mean_weight, 1.0, 0.05);
}

TEST(LagrangianLogRatios, AreMinusInfinityWhereAnUnconstrainedRatioIsNot) {
  LagrangianOptions options = Small(DualDiceOptions());
  options.fit.steps = 1;
  LagrangianFit fit = FitTwoStates(FiniteHorizon(kLagrangianHorizon), options);
  fit.positivity = Positivity::kNone;
  fit.ratios[0].parameters().setZero();
  fit.ratios[0].parameters().tail(1).setConstant(-1.5f);
  const std::vector<std::int64_t> one = {0};
  const Array<double, 2> ratios =
      LagrangianLogRatios(fit, TwoStates::Log(), one, FiniteHorizon(kLagrangianHorizon), 5);
  EXPECT_EQ(ratios(0, 0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(ratios(0, 4), 0.0);  // beyond the end
}

TEST(FitLagrangian, SaysWhenItIsNotToBeTrusted) {
  LagrangianOptions options = Small(DualDiceOptions());
  options.fit.steps = 20;
  options.fit.adam.learning_rate = 0.05;
  const LagrangianFit fit = FitTwoStates(InfiniteHorizon(0.9), options);
  ASSERT_FALSE(fit.notes.empty());
  EXPECT_THAT(fit.notes.back(), HasSubstr("test: "));
}

TEST(FitLagrangian, GivesTheSameBytesForAnyNumberOfThreadsAndResumed) {
  LagrangianOptions options = Small(GenDiceOptions());
  options.members = 2;
  options.fit.steps = 60;
  options.fit.validate_every = 20;
  const auto value = [&](const FitRun& run) {
    return FitOn(TwoStates::Log(), TwoStatePolicy(kLagrangianPolicy),
                 FiniteHorizon(kLagrangianHorizon), options, run)
        .value;
  };
  SetThreads(1);
  const double one = value({});
  SetThreads(2);
  EXPECT_EQ(one, value({}));
  SetThreads(0);

  // a checkpoint after every step, and a fit that goes on from the one at its end
  const TestDir dir;
  const FitRun run{.folder = dir.path(), .checkpoint_seconds = 0.0, .progress = nullptr};
  EXPECT_EQ(value(run), one);
  EXPECT_EQ(value(run), one);
}

TEST(FitLagrangian, RefusesTheCheckpointOfOtherOptions) {
  const EpisodeBatch log = TwoStates::Log();
  const TwoStatePolicy policy(kLagrangianPolicy);
  ExpectEveryFieldCounts(TinyFit<LagrangianOptions>(), [&](const auto& options, const FitRun& run) {
    FitOn(log, policy, FiniteHorizon(kLagrangianHorizon), options, run);
  });
}

TEST(FitLagrangian, RefusesAnInfiniteHorizonWithoutDiscount) {
  try {
    FitTwoStates(InfiniteHorizon(1.0), Small(DualDiceOptions()));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("value.discount"));
  }
}

}  // namespace
}  // namespace lfiw::ope
