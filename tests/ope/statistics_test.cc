#include "ope/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lfiw {
namespace {

TEST(MeanFromFirst, IsExactForEqualValues) {
  const std::vector<double> values(10, 0.1);
  EXPECT_EQ(MeanFromFirst(values), 0.1);
}

TEST(SampleSd, MatchesHandComputedValue) {
  const std::vector<double> values = {1.0, 2.0, 3.0, 6.0};
  EXPECT_DOUBLE_EQ(SampleSd(values), std::sqrt(14.0 / 3.0));
}

TEST(SampleSd, SurvivesValuesWhoseSquaresOverflow) {
  const std::vector<double> values = {1e200, 3e200};
  EXPECT_DOUBLE_EQ(SampleSd(values), std::sqrt(2.0) * 1e200);
}

TEST(StandardError, IsEmptyForOneValue) {
  EXPECT_FALSE(StandardError(std::vector<double>{1.0}).has_value());
  EXPECT_DOUBLE_EQ(*StandardError(std::vector<double>{1.0, 3.0}), 1.0);
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> sorted = {0.0, 1.0, 4.0};
  EXPECT_EQ(Quantile(sorted, 0.0), 0.0);
  EXPECT_EQ(Quantile(sorted, 0.5), 1.0);
  EXPECT_EQ(Quantile(sorted, 0.75), 2.5);
  EXPECT_EQ(Quantile(sorted, 1.0), 4.0);
}

}  // namespace
}  // namespace lfiw
