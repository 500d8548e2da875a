#include "experiments/evaluation/family_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;

class FamilyStageTest : public SmallEvaluation {};

TEST_F(FamilyStageTest, HoldsTheValueOfAPolicyInEveryMemberAtEveryAmountOfNoise) {
  const FittedModels models = Fit(1);
  const FamilyValues values =
      ValuesInFamily(Context(), log_, models, ConstantSource("better", 0.3, 0.5));
  ASSERT_EQ(values.values.shape()[0], std::ssize(kFamilyScales));
  ASSERT_EQ(values.values.shape()[1], 2);
  // the mean of 200 returns of five actions each, the same in all models
  const double error = 0.5 * std::sqrt(5.0 / 200.0);
  EXPECT_NEAR(values.standard_error, error, 0.3 * error);
  for (const double value : values.values.flat()) {
    EXPECT_NEAR(value, 0.3 * kSmallHorizon, 4.0 * error);
    EXPECT_DOUBLE_EQ(value, values.values(0, 0));
  }
}

TEST_F(FamilyStageTest, IsKept) {
  const FittedModels models = Fit(1);
  ValuesInFamily(Context(), log_, models, behavior_);
  ValuesInFamily(Context(), log_, models, behavior_);
  EXPECT_THAT(Computed(), Contains("family").Times(1));
}

}  // namespace
}  // namespace lfiw::experiments
