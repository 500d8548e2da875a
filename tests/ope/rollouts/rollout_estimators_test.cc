#include "ope/rollouts/rollout_estimators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/rng.h"
#include "ope/rollouts/plain_model.h"

namespace lfiw::ope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

EstimatorInputs Inputs(double spread) {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({1, 4});
  in.lengths = {4};
  in.terminated = {0};
  in.model_rewards = Array<double, 3>({3, 50, 4});
  in.model_log_weights = Array<double, 4>({3, 2, 50, 4});
  Stream stream(1, "rollouts");
  for (double& reward : in.model_rewards.flat()) reward = stream.Normal();
  for (double& weight : in.model_log_weights.flat()) weight = spread * stream.Normal();
  return in;
}

Estimand Finite() {
  Estimand estimand;
  estimand.horizon = 4;
  return estimand;
}

TEST(PlainRollouts, AreThePlainModel) {
  const EstimatorInputs in = Inputs(0.1);
  EXPECT_EQ(*RunEstimator(PlainRollouts(), in, Finite()).value,
            EstimatePlainModel(in.model_rewards, {}).value);
}

TEST(Lfiw, WeighsAllStepsOrAsManyAsAreReliable) {
  const EstimatorInputs in = Inputs(2.0);
  const LfiwResult result = EstimateLfiw(in.model_rewards, in.model_log_weights, {}, {});
  const Estimate all = RunEstimator(Lfiw({}, WeightedSteps::kAll), in, Finite());
  EXPECT_EQ(*all.value, *result.horizons[4].value);
  EXPECT_EQ(all.khat, result.horizons[4].khat);
  const Estimate reliable = RunEstimator(Lfiw({}, WeightedSteps::kReliable), in, Finite());
  EXPECT_EQ(*reliable.value, *result.horizons[0].value);
  EXPECT_THAT(reliable.notes.back(), HasSubstr("H = 0 of 4"));
}

TEST(Lfiw, AChoiceOfHorizonsForKhatIsRefusedWhereItChangesNothing) {
  LfiwOptions options;
  options.khat_horizons = {3};
  EXPECT_THAT(
      [&] { Lfiw(options, WeightedSteps::kAll); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("khat_horizons: lfiw_trajectory weighs by"),
                                       HasSubstr("lfiw_trajectory_reliable"))));
  EXPECT_THAT([&] { Lfiw(options, WeightedSteps::kReliable); },
              ThrowsMessage<ConfigError>(HasSubstr("expected khat: listed")));
  options.khat = KhatHorizons::kListed;
  EXPECT_THAT([&] { Lfiw(options, WeightedSteps::kAll); },
              ThrowsMessage<ConfigError>(HasSubstr("khat: listed: lfiw_trajectory weighs by")));
}

TEST(Lfiw, OnlyHorizonsWhoseKhatIsFittedCanBeReliable) {
  const EstimatorInputs in = Inputs(0.0);  // equal weights are reliable
  LfiwOptions options;
  EXPECT_THAT(RunEstimator(Lfiw(options, WeightedSteps::kReliable), in, Finite()).notes.back(),
              HasSubstr("H = 4 of 4"));
  options.khat = KhatHorizons::kListed;
  options.khat_horizons = {1, 2};
  EXPECT_THAT(RunEstimator(Lfiw(options, WeightedSteps::kReliable), in, Finite()).notes.back(),
              HasSubstr("H = 2 of 4"));
}

TEST(Lfiw, RefusesWithoutRolloutsOrClassifiers) {
  EstimatorInputs in = Inputs(0.1);
  in.model_log_weights = {};
  const Estimator estimator = Lfiw({}, WeightedSteps::kAll);
  EXPECT_EQ(RunEstimator(estimator, in, Finite()).reason, "no classifier was fitted");
  in.model_rewards = {};
  EXPECT_EQ(RunEstimator(estimator, in, Finite()).reason, "rollouts was not fitted");
}

}  // namespace
}  // namespace lfiw::ope
