#include "experiments/evaluation/noise_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using Values = std::vector<double>;

Backtest LoggedAt(double value, double error) {
  Backtest log;
  log.logged = value;
  log.logged_stderr = error;
  return log;
}

TEST(ChooseNoise, KeepsAllOfItUnlessItsValueIsVisiblyWrong) {
  const Values errors(3, 0.3);
  // two standard errors of the difference are 1
  EXPECT_EQ(ChooseNoise(Values{10.9, 10.0, 10.1}, errors, LoggedAt(10.0, 0.4)), 0u);
  EXPECT_EQ(ChooseNoise(Values{11.1, 10.2, 10.1}, errors, LoggedAt(10.0, 0.4)), 2u);
  EXPECT_EQ(ChooseNoise(Values{5.0, 9.0, 12.0}, errors, LoggedAt(10.0, 0.4)), 1u);
}

class NoiseStageTest : public SmallEvaluation {};

TEST_F(NoiseStageTest, AsksTheLoggedPolicyWhereThereIsNoise) {
  config_.dynamics.kind = DynamicsChoice::kAuto;
  config_.dynamics.fit.steps = 300;
  const FittedModels models = FitModels(Context(), log_, behavior_, split_, 1);
  ASSERT_TRUE(models.noise);
  ASSERT_TRUE(models.dynamics.has_noise());
  ASSERT_TRUE(models.noise_choice);
  EXPECT_THAT(models.noise_choice->scales, ElementsAre(1.0, 0.75, 0.5, 0.25, 0.0));
  // rewards are the actions, whatever the states: nothing speaks against the noise
  EXPECT_EQ(models.noise_choice->chosen, 1.0);
  EXPECT_THAT(Computed(), Contains("noise").Times(1));
}

TEST_F(NoiseStageTest, WithoutThatPolicyAllNoiseIsKept) {
  config_.dynamics.kind = DynamicsChoice::kAuto;
  config_.dynamics.fit.steps = 300;
  const FittedModels models = Fit(1);
  EXPECT_TRUE(models.dynamics.has_noise());
  EXPECT_FALSE(models.noise_choice);
  EXPECT_EQ(models.fitted.content_hash, models.model_hashes.front());
}

}  // namespace
}  // namespace lfiw::experiments
