#include "ope/judgement/intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

TEST(MonteCarloInterval, UsesStudentQuantiles) {
  // mean 2, standard error 1 / sqrt(3), t(2; 0.975) = 4.302653
  const Interval interval = MonteCarloInterval(std::vector<double>{1.0, 2.0, 3.0});
  EXPECT_NEAR(interval.high - 2.0, 4.302653 / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(2.0 - interval.low, 4.302653 / std::sqrt(3.0), 1e-6);
  EXPECT_THAT(interval.covers, HasSubstr("given the fitted model"));
}

TEST(BootstrapInterval, FewReplicatesUseTheSpreadOfOneEstimate) {
  const Interval interval =
      BootstrapInterval(std::vector<double>{1.0, 2.0, 3.0}, IntervalMethod::kClassifierBootstrap);
  EXPECT_NEAR(interval.high, 2.0 + 4.302653, 1e-6);
  EXPECT_EQ(interval.method, IntervalMethod::kClassifierBootstrap);
}

TEST(BootstrapInterval, FortyReplicatesUsePercentiles) {
  std::vector<double> estimates;
  for (int b = 40; b >= 0; --b) estimates.push_back(b);
  const Interval interval = BootstrapInterval(estimates, IntervalMethod::kPipelineBootstrap, 0.9);
  EXPECT_DOUBLE_EQ(interval.low, 2.0);
  EXPECT_DOUBLE_EQ(interval.high, 38.0);
  EXPECT_THAT(interval.covers, HasSubstr("made anew"));
}

TEST(BacktestInterval, AddsTheErrorSeenOnTheLoggedPolicyToBothSides) {
  const Interval narrow{.low = 7.0, .high = 14.0, .covers = {}};
  // a gap of -3 and a noise of 4: a typical error of 5
  const Backtest test{
      .estimate = 97.0, .estimate_stderr = 4.0, .logged = 100.0, .logged_stderr = 0.0};
  const Interval wide = BacktestInterval(narrow, 10.0, test);
  const double spread = 1.959964 * 5.0;
  EXPECT_NEAR(wide.low, 10.0 - std::hypot(3.0, spread), 1e-5);
  EXPECT_NEAR(wide.high, 10.0 + std::hypot(4.0, spread), 1e-5);
  EXPECT_EQ(wide.method, IntervalMethod::kBacktest);
  EXPECT_THAT(wide.covers, HasSubstr("heuristic"));
}

TEST(BacktestInterval, WithAnExactBacktestIsTheIntervalItself) {
  const Interval interval = BacktestInterval({.low = 1.0, .high = 3.0, .covers = {}}, 2.0,
                                             {.estimate = 5.0, .logged = 5.0});
  EXPECT_DOUBLE_EQ(interval.low, 1.0);
  EXPECT_DOUBLE_EQ(interval.high, 3.0);
}

TEST(MemberInterval, IsStudentsAboutTheValueWithTheMembersDeviation) {
  const std::vector<double> members = {9.0, 11.0, 13.0};
  const Interval interval = MemberInterval(10.0, members, 0.95);
  EXPECT_NEAR(interval.high - 10.0, 4.302653 * 2.0, 1e-4);
  EXPECT_NEAR(10.0 - interval.low, 4.302653 * 2.0, 1e-4);
  EXPECT_EQ(interval.method, IntervalMethod::kMembers);
  EXPECT_TRUE(std::isinf(MemberInterval(10.0, std::vector<double>{9.0}, 0.95).high));
}

TEST(CorrectionInterval, AddsWhatIsLeftOfThePathAndOfTheModelsError) {
  const Interval wide = CorrectionInterval(7.0, 14.0, 10.0, {.path = 6.0, .members = 4.0}, 0.95);
  const double spread = 1.959964 * 5.0;
  EXPECT_NEAR(wide.low, 10.0 - std::hypot(3.0, spread), 1e-5);
  EXPECT_NEAR(wide.high, 10.0 + std::hypot(4.0, spread), 1e-5);
  EXPECT_EQ(wide.method, IntervalMethod::kCorrection);
  EXPECT_THAT(wide.covers, HasSubstr("heuristic"));
  const Interval none = CorrectionInterval(7.0, 14.0, 10.0, {}, 0.95);
  EXPECT_DOUBLE_EQ(none.low, 7.0);
  EXPECT_DOUBLE_EQ(none.high, 14.0);
}

TEST(SpreadInterval, IsThatOfRepetitionsWithTheirErrorAndDegrees) {
  const std::vector<double> repetitions = {1.0, 2.0, 4.0, 5.5};
  const Interval expected = MonteCarloInterval(repetitions);
  const Interval interval =
      SpreadInterval(Mean(repetitions), StandardError(repetitions), 3.0, "rollouts");
  EXPECT_DOUBLE_EQ(interval.low, expected.low);
  EXPECT_DOUBLE_EQ(interval.high, expected.high);
  EXPECT_EQ(interval.method, IntervalMethod::kMonteCarlo);
  EXPECT_EQ(interval.covers, "rollouts");
}

TEST(Intervals, WithFewerThanTwoEstimatesCoverNothingAndSaySo) {
  const Interval interval = MonteCarloInterval(std::vector<double>{1.0});
  EXPECT_EQ(interval.low, -HUGE_VAL);
  EXPECT_EQ(interval.high, HUGE_VAL);
  EXPECT_THAT(interval.covers, HasSubstr("nothing"));
}

TEST(Intervals, RejectImpossibleLevelsAndNonFiniteEstimates) {
  EXPECT_THROW(MonteCarloInterval(std::vector<double>{1.0, 2.0}, 1.0), ConfigError);
  EXPECT_THROW(MonteCarloInterval(std::vector<double>{1.0, NAN}), DataError);
}

}  // namespace
}  // namespace lfiw::ope
