#include "ope/rollouts/plain_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;

Array<double, 3> TwoRepetitions() {
  Array<double, 3> rewards({2, 2, 2});
  int k = 0;
  for (double& value : rewards.flat()) value = k++;  // returns 1, 5 and 9, 13
  return rewards;
}

TEST(PlainModel, AveragesReturnsWithStandardErrorOverRepetitions) {
  const PlainModelEstimate estimate = EstimatePlainModel(TwoRepetitions(), {});
  EXPECT_THAT(estimate.repetitions, ElementsAre(3.0, 11.0));
  EXPECT_EQ(estimate.value, 7.0);
  EXPECT_DOUBLE_EQ(*estimate.standard_error, 4.0);
  EXPECT_DOUBLE_EQ(estimate.se_within, 2.0 / std::sqrt(2.0));
}

TEST(PlainModel, NormalizedScaleIsTheMeanRewardPerStep) {
  const ValueOptions options{.scale = ValueScale::kNormalized};
  EXPECT_DOUBLE_EQ(EstimatePlainModel(TwoRepetitions(), options).value, 3.5);
}

TEST(PlainModel, OneRepetitionHasNoStandardError) {
  EXPECT_FALSE(EstimatePlainModel(Array<double, 3>({1, 3, 2}, 1.0), {}).standard_error);
}

TEST(PlainModel, EmptyOrNonFiniteRewardsAreDataErrors) {
  EXPECT_THROW(EstimatePlainModel(Array<double, 3>({1, 0, 2}), {}), DataError);
  Array<double, 3> rewards = TwoRepetitions();
  rewards(1, 0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(EstimatePlainModel(rewards, {}), DataError);
}

}  // namespace
}  // namespace lfiw::ope
