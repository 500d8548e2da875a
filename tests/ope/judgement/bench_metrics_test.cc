#include "ope/judgement/bench_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace lfiw::ope {
namespace {

using Values = std::vector<double>;

// Published returns of DOPE's halfcheetah_online_0 .. 10 (deep_ope, d4rl_policies.json).
const Values kHalfCheetah = {-309.24, 5686.15,  6898.25,  7843.35,  8661.37, 9197.89,
                             9623.79, 10255.27, 10899.46, 11829.05, 12695.70};

TEST(MeasureErrors, GivesBiasAbsoluteSquaredAndRelativeError) {
  const ErrorMetrics metrics = MeasureErrors(Values{1.0, 6.0}, Values{2.0, 4.0});
  EXPECT_DOUBLE_EQ(metrics.bias, 0.5);
  EXPECT_DOUBLE_EQ(metrics.mae, 1.5);
  EXPECT_DOUBLE_EQ(metrics.rmse, std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(*metrics.relative, 0.5);
}

TEST(MeasureErrors, HasNoRelativeErrorWhereATruthIsZero) {
  EXPECT_FALSE(MeasureErrors(Values{1.0, 6.0}, Values{0.0, 4.0}).relative);
}

TEST(RankCorrelations, AreOneForTheSameOrderAndMinusOneForTheReverse) {
  Values same, reverse;
  for (const double value : kHalfCheetah) {
    same.push_back(std::cbrt(value));
    reverse.push_back(-value);
  }
  EXPECT_DOUBLE_EQ(*SpearmanCorrelation(same, kHalfCheetah), 1.0);
  EXPECT_DOUBLE_EQ(*KendallCorrelation(same, kHalfCheetah), 1.0);
  EXPECT_DOUBLE_EQ(*SpearmanCorrelation(reverse, kHalfCheetah), -1.0);
  EXPECT_DOUBLE_EQ(*KendallCorrelation(reverse, kHalfCheetah), -1.0);
}

TEST(RankCorrelations, AgreeWithHandComputedOnesUnderTies) {
  // ranks 1.5 1.5 3 4 against 1 2 3.5 3.5: 4.5 / sqrt(4.5 * 4.5); of six pairs five differ on each
  // side, four on both and alike
  const Values a = {1, 1, 2, 3}, b = {5, 6, 7, 7};
  EXPECT_DOUBLE_EQ(*SpearmanCorrelation(a, b), 4.0 / 4.5);
  EXPECT_DOUBLE_EQ(*KendallCorrelation(a, b), 4.0 / 5.0);
}

TEST(RankCorrelations, AreAbsentWithoutAnOrder) {
  EXPECT_FALSE(SpearmanCorrelation(Values{1}, Values{2}));
  EXPECT_FALSE(SpearmanCorrelation(Values{1, 1}, Values{2, 3}));
  EXPECT_FALSE(KendallCorrelation(Values{1, 2}, Values{3, 3}));
}

TEST(RegretAtK, IsTheLossOfTheBestChosenAsAShareOfTheRange) {
  // the highest estimates are of policies 5 and 10
  Values estimates(kHalfCheetah.size(), 0.0);
  estimates[5] = 2.0;
  estimates[10] = 1.0;
  const double range = 12695.70 + 309.24;
  EXPECT_DOUBLE_EQ(*RegretAtK(estimates, kHalfCheetah, 1), (12695.70 - 9197.89) / range);
  EXPECT_EQ(*RegretAtK(estimates, kHalfCheetah, 2), 0.0);
  EXPECT_FALSE(RegretAtK(Values{1, 2}, Values{3, 3}, 1));
}

TEST(TopKPrecision, CountsTheTrulyBestAmongTheChosen) {
  const Values truths = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(TopKPrecision(Values{4, 1, 2, 3}, truths, 2), 0.5);
  EXPECT_DOUBLE_EQ(TopKPrecision(truths, truths, 3), 1.0);
}

TEST(PolicyMismatch, IsTheMeanLogRatioOfLoggedSteps) {
  Array<double, 2> ratios({2, 3});
  ratios(0, 0) = -1.0;
  ratios(0, 1) = 0.5;
  ratios(1, 0) = -2.5;
  EXPECT_DOUBLE_EQ(PolicyMismatch(ratios, std::vector<std::int64_t>{2, 1}), 1.0);
  ratios(1, 0) = -HUGE_VAL;
  EXPECT_EQ(PolicyMismatch(ratios, std::vector<std::int64_t>{2, 1}), HUGE_VAL);
}

TEST(PolicyMismatch, EstimatesTheRelativeEntropyOfNormalActions) {
  // actions N(0, 1) in the log, N(1, 1) under evaluation: KL = 1 / 2
  Array<double, 2> ratios({1, 100'000});
  Stream stream(1, "actions");
  for (double& ratio : ratios.flat()) ratio = stream.Normal() - 0.5;
  EXPECT_NEAR(PolicyMismatch(ratios, std::vector<std::int64_t>{100'000}), 0.5, 0.015);
}

TEST(Coverage, CountsClosedIntervals) {
  EXPECT_DOUBLE_EQ(Coverage(Values{0, 2, 0}, Values{1, 3, 5}, Values{1, 1, 5}), 2.0 / 3.0);
}

TEST(NormalizedScore, IsZeroForTheRandomAndOneForTheExpertPolicy) {
  for (const char* env : {"HalfCheetah", "Hopper", "Walker2d", "Ant"}) {
    const ReferenceReturns reference = D4rlReturns(env).value();
    EXPECT_EQ(NormalizedScore(reference.random, reference), 0.0);
    EXPECT_EQ(NormalizedScore(reference.expert, reference), 1.0);
  }
  EXPECT_FALSE(D4rlReturns("HumanoidStandup"));
}

}  // namespace
}  // namespace lfiw::ope
