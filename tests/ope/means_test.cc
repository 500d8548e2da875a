#include "ope/means.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lfiw::ope {
namespace {

TEST(MeanFromFirst, IsExactForEqualValues) {
  const std::vector<double> values(10, 0.1);
  EXPECT_EQ(MeanFromFirst(values), 0.1);
}

TEST(PlainMean, DividesTheSum) { EXPECT_EQ(PlainMean(std::vector<double>{1.0, 2.0, 6.0}), 3.0); }

TEST(RootMeanSquare, SurvivesValuesWhoseSquaresOverflow) {
  EXPECT_DOUBLE_EQ(RootMeanSquare(std::vector<double>{3.0, 4.0}), std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(RootMeanSquare(std::vector<double>{3e200, 4e200}), std::sqrt(12.5) * 1e200);
  EXPECT_EQ(RootMeanSquare(std::vector<double>{0.0, 0.0}), 0.0);
}

TEST(MeanError, IsEmptyForOneValueOrBeyondDouble) {
  EXPECT_DOUBLE_EQ(*MeanError(std::vector<double>{1.0, 3.0}), 1.0);
  EXPECT_FALSE(MeanError(std::vector<double>{1.0}).has_value());
  EXPECT_FALSE(MeanError(std::vector<double>{1e200, 3e200}).has_value());
}

}  // namespace
}  // namespace lfiw::ope
