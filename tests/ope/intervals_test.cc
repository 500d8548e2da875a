#include "ope/intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"

namespace lfiw {
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
}  // namespace lfiw
