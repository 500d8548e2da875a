#include "ope/estimators/importance_sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;
using Rows = std::vector<std::vector<double>>;

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

Estimand Finite(std::int64_t horizon, double discount = 1.0) {
  Estimand estimand;
  estimand.horizon = horizon;
  estimand.discount = discount;
  return estimand;
}

// Episodes from their rewards and ratios; those shorter than the longest have terminated.
EstimatorInputs Inputs(const Rows& rewards, const Rows& ratios) {
  const auto n = std::ssize(rewards);
  std::int64_t steps = 0;
  for (const auto& row : rewards) steps = std::max<std::int64_t>(steps, std::ssize(row));
  EstimatorInputs in;
  in.rewards = Array<double, 2>({n, steps});
  Array<double, 2> log_ratios({n, steps});
  for (std::int64_t i = 0; i < n; ++i) {
    const auto& row = rewards[static_cast<std::size_t>(i)];
    std::ranges::copy(row, in.rewards.Row(i).begin());
    std::ranges::transform(ratios[static_cast<std::size_t>(i)], log_ratios.Row(i).begin(),
                           [](double ratio) { return std::log(ratio); });
    in.lengths.push_back(std::ssize(row));
    in.terminated.push_back(std::ssize(row) < steps);
  }
  in.log_ratios["action"] = std::move(log_ratios);
  return in;
}

EstimatorInputs RandomInputs(std::int64_t n, std::int64_t steps, double spread = 0.4) {
  Stream stream(1, "log");
  EstimatorInputs in;
  in.rewards = Array<double, 2>({n, steps});
  in.lengths.assign(static_cast<std::size_t>(n), steps);
  in.terminated.assign(static_cast<std::size_t>(n), 0);
  in.log_ratios["action"] = Array<double, 2>({n, steps});
  for (double& reward : in.rewards.flat()) reward = 0.3 + stream.Normal();
  for (double& ratio : in.log_ratios["action"].flat()) ratio = spread * stream.Normal();
  return in;
}

ImportanceSamplingOptions Options(WeightedBy by, WeightNormalization normalization) {
  ImportanceSamplingOptions options;
  options.weighted_by = by;
  options.normalization = normalization;
  return options;
}

const ImportanceSamplingOptions kIs = Options(WeightedBy::kTrajectory, WeightNormalization::kNone);
const ImportanceSamplingOptions kWis = Options(WeightedBy::kTrajectory, WeightNormalization::kSelf);
const ImportanceSamplingOptions kPdis = Options(WeightedBy::kStep, WeightNormalization::kNone);
const ImportanceSamplingOptions kWpdis = Options(WeightedBy::kStep, WeightNormalization::kSelf);
const std::vector<ImportanceSamplingOptions> kAll = {kIs, kWis, kPdis, kWpdis};

Estimate Answer(const ImportanceSamplingOptions& options, const EstimatorInputs& in,
                const Estimand& estimand) {
  return RunEstimator(ImportanceSampling(options), in, estimand);
}

double Value(const ImportanceSamplingOptions& options, const EstimatorInputs& in,
             const Estimand& estimand) {
  const Estimate estimate = Answer(options, in, estimand);
  EXPECT_TRUE(estimate.value) << estimate.reason;
  return estimate.value.value_or(std::nan(""));
}

// ---- Definitions

TEST(ImportanceSampling, EqualsItsDefinitionWrittenOut) {
  const EstimatorInputs in = Inputs({{1, 2}, {3, 5}}, {{0.5, 3}, {2, 0.25}});
  const Estimand estimand = Finite(2, 0.5);
  EXPECT_NEAR(Value(kIs, in, estimand), (1.5 * 2.0 + 0.5 * 5.5) / 2, 1e-14);
  EXPECT_NEAR(Value(kWis, in, estimand), (1.5 * 2.0 + 0.5 * 5.5) / 2.0, 1e-14);
  EXPECT_NEAR(Value(kPdis, in, estimand), (0.5 * 1 + 1.5 * 1 + 2 * 3 + 0.5 * 2.5) / 2, 1e-14);
  EXPECT_NEAR(Value(kWpdis, in, estimand), 6.5 / 2.5 + 0.5 * (1.5 * 2 + 0.5 * 5) / 2.0, 1e-14);
}

TEST(ImportanceSampling, ReportsTheWeightsAtTheEndOfTheEpisodes) {
  const Estimate estimate =
      Answer(kWpdis, Inputs({{1, 2}, {3, 5}}, {{0.5, 3}, {2, 0.25}}), Finite(2));
  EXPECT_NEAR(*estimate.ess, 4.0 / (1.5 * 1.5 + 0.5 * 0.5), 1e-12);
  EXPECT_NEAR(*estimate.max_weight, 0.75, 1e-12);
  EXPECT_FALSE(estimate.khat);
}

TEST(ImportanceSampling, CarriesTheWeightOfAnEndedEpisodeForward) {
  const EstimatorInputs in = Inputs({{0, 1}, {0}}, {{1.8, 1.0}, {0.2}});
  for (const auto& options : kAll) {
    EXPECT_NEAR(Value(options, in, Finite(2)), 0.9, 1e-14) << ImportanceSamplingName(options);
  }
}

TEST(ImportanceSampling, OtherRulesForEndedEpisodesReproduceOtherTools) {
  const EstimatorInputs in = Inputs({{0, 1}, {0}}, {{1.8, 1.0}, {0.2}});
  ImportanceSamplingOptions options = kWpdis;
  options.ratios.finished = FinishedEpisodes::kDrop;
  EXPECT_EQ(ImportanceSamplingName(options), "wpdis finished=drop");
  EXPECT_NEAR(Value(options, in, Finite(2)), 1.0, 1e-14);
  options.ratios.finished = FinishedEpisodes::kOne;
  EXPECT_NEAR(Value(options, in, Finite(2)), 1.8 / 2.8, 1e-14);
  options = kPdis;
  options.ratios.finished = FinishedEpisodes::kDrop;
  EXPECT_NEAR(Value(options, in, Finite(2)), 1.8, 1e-14);
  options.ratios.finished = FinishedEpisodes::kCarry;
  options.ratios.product = RatioProduct::kStep;
  EXPECT_NEAR(Value(options, in, Finite(2)), 0.5, 1e-14);
}

// ---- Clipping

TEST(ImportanceSampling, ClipsRatiosOfStepsAndCountsThem) {
  ImportanceSamplingOptions options = kPdis;
  options.ratios.min_log_ratio = std::log(0.5);
  options.ratios.max_log_ratio = std::log(2.0);
  const Estimate estimate = Answer(options, Inputs({{0, 1}, {0, 1}}, {{4, 0}, {1, 1}}), Finite(2));
  EXPECT_NEAR(*estimate.value, (2 * 0.5 + 1) / 2, 1e-14);
  ASSERT_EQ(estimate.notes.size(), 1u);
  EXPECT_THAT(estimate.notes[0], HasSubstr("2 of 4 ratios"));
}

TEST(ImportanceSampling, ClipsWeightsWithoutChangingTheProductBehindThem) {
  ImportanceSamplingOptions options = kPdis;
  options.ratios.max_weight = 3.0;
  EXPECT_NEAR(Value(options, Inputs({{1, 1}}, {{4, 0.5}}), Finite(2)), 3.0 + 2.0, 1e-14);
}

TEST(ImportanceSampling, RefusesLimitsThatCross) {
  ImportanceSamplingOptions options = kPdis;
  options.ratios.min_log_ratio = 1.0;
  options.ratios.max_log_ratio = -1.0;
  EXPECT_THROW(Answer(options, Inputs({{1}}, {{1}}), Finite(1)), ConfigError);
}

// ---- Properties

TEST(ImportanceSampling, EqualPoliciesGiveThePlainMeanWithAllEpisodes) {
  const EstimatorInputs in = RandomInputs(40, 7, 0.0);
  std::vector<double> returns;
  for (std::int64_t i = 0; i < 40; ++i) returns.push_back(Sum(in.rewards.Row(i)));
  for (const auto& options : kAll) {
    const Estimate estimate = Answer(options, in, Finite(7));
    EXPECT_NEAR(*estimate.value, Mean(returns), 1e-13);
    EXPECT_NEAR(*estimate.standard_error, StandardError(returns), 1e-13);
    EXPECT_DOUBLE_EQ(*estimate.ess, 40.0);
    EXPECT_DOUBLE_EQ(*estimate.max_weight, 1.0 / 40);
  }
}

TEST(ImportanceSampling, DoesNotDependOnTheOrderOfEpisodes) {
  const EstimatorInputs in = RandomInputs(30, 5);
  EstimatorInputs reversed = in;
  for (std::int64_t i = 0; i < 30; ++i) {
    std::ranges::copy(in.rewards.Row(29 - i), reversed.rewards.Row(i).begin());
    std::ranges::copy(in.log_ratios.at("action").Row(29 - i),
                      reversed.log_ratios.at("action").Row(i).begin());
  }
  for (const auto& options : kAll) {
    EXPECT_NEAR(Value(options, in, Finite(5)), Value(options, reversed, Finite(5)), 1e-12);
  }
}

TEST(ImportanceSampling, ScalesWithRewardsAndSelfNormalizedOnesShiftWithThem) {
  const EstimatorInputs in = RandomInputs(30, 5);
  EstimatorInputs scaled = in, shifted = in;
  for (double& reward : scaled.rewards.flat()) reward *= -3.0;
  for (double& reward : shifted.rewards.flat()) reward += 2.0;
  for (const auto& options : kAll) {
    const Estimate before = Answer(options, in, Finite(5)),
                   after = Answer(options, scaled, Finite(5));
    EXPECT_NEAR(*after.value, -3.0 * *before.value, 1e-12);
    EXPECT_NEAR(*after.standard_error, 3.0 * *before.standard_error, 1e-12);
    if (options.normalization == WeightNormalization::kSelf) {
      EXPECT_NEAR(Value(options, shifted, Finite(5)), *before.value + 10.0, 1e-12);
    }
  }
}

TEST(ImportanceSampling, OneStepMakesTrajectoryAndPerDecisionTheSame) {
  const EstimatorInputs in = RandomInputs(30, 1);
  EXPECT_DOUBLE_EQ(Value(kIs, in, Finite(1)), Value(kPdis, in, Finite(1)));
  EXPECT_DOUBLE_EQ(Value(kWis, in, Finite(1)), Value(kWpdis, in, Finite(1)));
}

TEST(ImportanceSampling, IgnoresWhatIsPaddedAfterTheEnd) {
  EstimatorInputs in = Inputs({{0, 1}, {0}}, {{1.8, 1.0}, {0.2}});
  const double before = Value(kWpdis, in, Finite(2));
  in.log_ratios["action"](1, 1) = kLogZero;
  EXPECT_EQ(Value(kWpdis, in, Finite(2)), before);
}

TEST(ImportanceSampling, MeansOverSimulatedLogsAreUnbiased) {
  // a bandit of two steps: action 1 with probability 1/2 (behavior) or 0.8, reward the product of
  // the actions, worth 0.64
  std::vector<double> is, pdis;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Stream stream(seed, "bandit");
    Rows rewards, ratios;
    for (int i = 0; i < 10; ++i) {
      const bool first = stream.Uniform() < 0.5, second = stream.Uniform() < 0.5;
      rewards.push_back({0.0, first && second ? 1.0 : 0.0});
      ratios.push_back({first ? 1.6 : 0.4, second ? 1.6 : 0.4});
    }
    const EstimatorInputs in = Inputs(rewards, ratios);
    is.push_back(Value(kIs, in, Finite(2)));
    pdis.push_back(Value(kPdis, in, Finite(2)));
  }
  // 4 standard errors
  EXPECT_NEAR(Mean(is), 0.64, 4.0 * StandardError(is));
  EXPECT_NEAR(Mean(pdis), 0.64, 4.0 * StandardError(pdis));
}

// ---- Range

TEST(ImportanceSampling, TenThousandStepsNeitherVanishNorOverflow) {
  for (const double ratio : {0.3, 3.0}) {
    EstimatorInputs in = RandomInputs(2, 10'000, 0.0);
    for (double& reward : in.rewards.flat()) reward = 0.0;
    in.rewards(0, 9'999) = 3.0;
    in.rewards(1, 9'999) = 5.0;
    for (double& value : in.log_ratios["action"].flat()) value = std::log(ratio);
    for (const auto& options : {kWis, kWpdis}) {
      const Estimate estimate = Answer(options, in, Finite(10'000));
      EXPECT_DOUBLE_EQ(*estimate.value, 4.0);
      EXPECT_DOUBLE_EQ(*estimate.ess, 2.0);
      EXPECT_TRUE(std::isfinite(*estimate.standard_error));
    }
    for (const auto& options : {kIs, kPdis}) {
      const Estimate estimate = Answer(options, in, Finite(10'000));
      EXPECT_NEAR(*estimate.log10_value, 10'000 * std::log10(ratio) + std::log10(4.0), 1e-6);
      EXPECT_DOUBLE_EQ(*estimate.ess, 2.0);
      EXPECT_EQ(estimate.value.has_value(), ratio < 1.0);
      if (ratio > 1.0) {
        EXPECT_THAT(estimate.reason, HasSubstr("not finite in double"));
      } else {
        EXPECT_EQ(*estimate.value, 0.0);
      }
    }
  }
}

TEST(ImportanceSampling, HugeWeightsOfZeroRewardsDoNotHideTheRest) {
  // e^800 * 0 and 1 * 6: the value is 3
  EstimatorInputs in = Inputs({{0}, {6}}, {{1}, {1}});
  in.log_ratios["action"](0, 0) = 800.0;
  const Estimate estimate = Answer(kIs, in, Finite(1));
  EXPECT_DOUBLE_EQ(*estimate.value, 3.0);
  EXPECT_DOUBLE_EQ(*estimate.standard_error, 3.0);
}

TEST(ImportanceSampling, TinyWeightsOfHugeRewardsCount) {
  EstimatorInputs in = Inputs({{1e200}, {2e200}}, {{1}, {1}});
  for (double& ratio : in.log_ratios["action"].flat()) ratio = -200.0 * std::log(10.0);
  EXPECT_NEAR(Value(kIs, in, Finite(1)), 1.5, 1e-10);
  for (double& ratio : in.log_ratios["action"].flat()) ratio *= 2.0;
  EXPECT_NEAR(std::log10(Value(kIs, in, Finite(1))), std::log10(1.5) - 200.0, 1e-10);
}

TEST(ImportanceSampling, RefusesSumsOfRewardsBeyondDouble) {
  const EstimatorInputs in = Inputs({{1e308, 1e308}}, {{1, 1}});
  EXPECT_THAT(Answer(kWis, in, Finite(2)).reason, HasSubstr("not finite in double"));
  EXPECT_THAT(Answer(kIs, in, Finite(2)).reason, HasSubstr("not finite in double"));
}

// ---- Refusals

TEST(ImportanceSampling, RefusesWithoutSupport) {
  const EstimatorInputs in = Inputs({{1, 1}, {1, 1}}, {{0, 1}, {1, 0}});
  for (const auto& options : kAll) {
    const Estimate estimate = Answer(options, in, Finite(2));
    EXPECT_FALSE(estimate.value);
    EXPECT_THAT(estimate.reason, HasSubstr("no support"));
    EXPECT_EQ(*estimate.ess, 0.0);
  }
}

TEST(ImportanceSampling, OneSupportedEpisodeIsEnough) {
  const Estimate estimate = Answer(kWis, Inputs({{1}, {7}, {9}}, {{0}, {0.1}, {0}}), Finite(1));
  EXPECT_DOUBLE_EQ(*estimate.value, 7.0);
  EXPECT_DOUBLE_EQ(*estimate.ess, 1.0);
}

TEST(ImportanceSampling, WeighsOrRefusesEpisodesCutByATimeLimit) {
  EstimatorInputs in = Inputs({{1, 1}, {5}}, {{1, 1}, {1}});
  in.terminated = {0, 0};
  const Estimate estimate = Answer(kWis, in, Finite(2));
  EXPECT_DOUBLE_EQ(*estimate.value, 2.0);
  EXPECT_DOUBLE_EQ(Value(kIs, in, Finite(2)), 2.0);  // the first stands for both
  // the first step is known of both, the second of one that stands for both
  EXPECT_DOUBLE_EQ(Value(kPdis, in, Finite(2)), 3.0 + 1.0);
  EXPECT_DOUBLE_EQ(Value(kWpdis, in, Finite(2)), 3.0 + 1.0);
  EXPECT_THAT(estimate.notes.at(0), HasSubstr("cut 1 of 2 episodes"));
  ImportanceSamplingOptions options = kWis;
  options.cut = CutEpisodes::kRefuse;
  EXPECT_THAT(Answer(options, in, Finite(2)).reason, HasSubstr("cut 1 of 2 episodes"));
  EXPECT_THAT(Answer(kWis, in, Finite(3)).reason, HasSubstr("cut every episode"));
}

// Episodes with a reward of 1 a step, of which one in twenty ends after each; a limit of 20 steps
// strikes `limited` of them.
EstimatorInputs MortalEpisodes(std::int64_t n, double limited) {
  Stream stream(1, "mortal episodes");
  EstimatorInputs in = RandomInputs(n, 50, 0.0);
  std::ranges::fill(in.rewards.flat(), 1.0);
  for (std::size_t i = 0; std::cmp_less(i, n); ++i) {
    std::int64_t length = 1;
    while (length < 50 && stream.Uniform() >= 0.05) ++length;
    in.lengths[i] = length;
    in.terminated[i] = length < 50;
    if (length <= 20 || stream.Uniform() >= limited) continue;
    in.lengths[i] = 20;
    in.terminated[i] = 0;
  }
  return in;
}

TEST(ImportanceSampling, CutEpisodesDoNotLeaveThoseThatEndedEarly) {
  const double truth = (1.0 - std::pow(0.95, 50)) / 0.05;  // 18.5; without cut ones 14.7
  const EstimatorInputs in = MortalEpisodes(20'000, 0.5);
  for (const auto& options : kAll) {
    EXPECT_NEAR(Value(options, in, Finite(50)), truth, 0.4) << ImportanceSamplingName(options);
  }
}

TEST(ImportanceSampling, RefusesWhereAllThatGoOnAreCut) {
  const EstimatorInputs in = MortalEpisodes(1'000, 1.0);
  for (const auto& options : kAll) {
    EXPECT_THAT(Answer(options, in, Finite(50)).reason,
                HasSubstr("cut all episodes that still ran"));
  }
}

TEST(ImportanceSampling, AnInfiniteHorizonNeedsEpisodesThatTerminate) {
  EstimatorInputs in = Inputs({{1, 1}, {1}}, {{1, 1}, {1}});
  in.terminated = {1, 1};
  Estimand infinite;
  infinite.discount = 0.5;
  EXPECT_DOUBLE_EQ(Value(kWis, in, infinite), 1.25);
  infinite.scale = ValueScale::kNormalized;
  EXPECT_DOUBLE_EQ(Value(kWis, in, infinite), 0.625);
  in.terminated = {0, 0};
  EXPECT_THAT(Answer(kWis, in, infinite).reason, HasSubstr("cut every episode"));
}

TEST(ImportanceSampling, RefusesWeightsOfSingleStepsForTrajectories) {
  ImportanceSamplingOptions options = kWis;
  options.ratios.product = RatioProduct::kStep;
  EXPECT_THAT(Answer(options, Inputs({{1}}, {{1}}), Finite(1)).reason, HasSubstr("single steps"));
}

TEST(ImportanceSampling, NamesWhereALogRatioIsBeyondAnyDensityRatio) {
  EstimatorInputs in = Inputs({{1, 1}}, {{1, 1}});
  in.log_ratios["action"](0, 1) = 1e200;
  try {
    Answer(kIs, in, Finite(2));
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("episode 0, step 1"));
  }
}

}  // namespace
}  // namespace lfiw::ope
