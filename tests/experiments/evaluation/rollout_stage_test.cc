#include "experiments/evaluation/rollout_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/parallel.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

class RolloutStageTest : public SmallEvaluation {
 protected:
  RolloutStageTest() : policy_(ConstantSource("policy", 0.3, 1.0)) {}
  ~RolloutStageTest() override { SetThreads(0); }

  RolloutStage::Key Key() {
    return {TaskKeyOf(Context()), config_.rollout, config_.value.horizon, config_.seed};
  }
  // The artifact that a run without other stages makes.
  Artifact Make(const std::string& cache, const FittedModels& models) {
    return StageCache(dir_ / cache).Run<RolloutStage>(Key(), {task_, log_, models, policy_});
  }

  PolicySource policy_;
};

TEST_F(RolloutStageTest, KeepsTheRolloutsOfThePolicyInTheModel) {
  const FittedModels models = Fit(2);
  const ModelRollouts kept = RolloutStage::Read(Make("one", models));

  std::vector<const TransitionRatio*> ratios;
  for (const RatioClassifier& classifier : models.classifiers) ratios.push_back(&classifier);
  const MatrixF starts = StartStatesFromLog(log_.log, 60, config_.seed);
  const ClampRange range = RangeOfLog(log_.log, config_.rollout.clamp_margin);
  const auto rules = env_->MakeTaskRules();
  const ModelRollouts direct =
      RollOutInModel({.dynamics = models.dynamics,
                      .ratios = ratios,
                      .policy = *policy_.policy,
                      .spec = task_.spec,
                      .functions = *rules,
                      .start_states = starts,
                      .range = range},
                     config_.rollout, kSmallHorizon, config_.seed, nullptr);
  EXPECT_THAT(kept.rewards.shape(), ElementsAre(3, 20, kSmallHorizon));
  EXPECT_THAT(kept.log_weights.shape(), ElementsAre(3, 2, 20, kSmallHorizon));
  EXPECT_EQ(kept.rewards, direct.rewards);
  EXPECT_EQ(kept.log_weights, direct.log_weights);
  EXPECT_EQ(kept.clamped_values, direct.clamped_values);
  EXPECT_EQ(kept.predicted_values, direct.predicted_values);
  EXPECT_EQ(kept.visited_states, direct.visited_states);
  EXPECT_EQ(kept.visited_actions, direct.visited_actions);
  EXPECT_EQ(kept.visited_steps, direct.visited_steps);
}

TEST_F(RolloutStageTest, HasTheSameBytesForAnyNumberOfThreads) {
  const FittedModels models = Fit(2);
  SetThreads(1);
  const std::string one = Make("one", models).content_hash;
  SetThreads(2);
  EXPECT_EQ(Make("two", models).content_hash, one);
}

TEST_F(RolloutStageTest, DependsOnModelsLogAndPolicy) {
  const FittedModels models = Fit(2);
  const std::vector<std::string> hashes =
      RolloutStage::Inputs{task_, log_, models, policy_}.Hashes();
  for (const std::string& hash : models.hashes) EXPECT_THAT(hashes, Contains(hash));
  EXPECT_THAT(hashes, Contains(log_.hash));
  EXPECT_THAT(hashes, Contains(policy_.hash));
}

TEST_F(RolloutStageTest, IsMadeOnceForEachPolicyHorizonAndSeed) {
  const FittedModels models = Fit(2);
  const auto roll_out = [&] { return RollOut(Context(), log_, models, policy_); };
  roll_out();
  roll_out();
  EXPECT_THAT(Computed(), Contains("rollouts").Times(1));
  config_.value.discount = 0.5;  // changes only what is made of them
  roll_out();
  EXPECT_THAT(Computed(), Contains("rollouts").Times(1));
  config_.value.horizon = 3;
  EXPECT_EQ(roll_out().rewards.shape()[2], 3);
  config_.seed = 1;
  roll_out();
  policy_ = ConstantSource("other", 0.5, 1.0);
  roll_out();
  EXPECT_THAT(Computed(), Contains("rollouts").Times(4));
}

TEST_F(RolloutStageTest, BeginsAtFirstStatesOfTheLogOrAtResets) {
  const FittedModels models = Fit(1);
  config_.value.horizon = 1;
  config_.rollout.visited_per_episode = 1;
  const MatrixF log = RollOut(Context(), log_, models, policy_).visited_states;
  EXPECT_EQ(log, StartStatesFromLog(log_.log, 60, config_.seed));
  config_.rollout.start = RolloutStart::kEnvironment;
  const MatrixF resets = RollOut(Context(), log_, models, policy_).visited_states;
  EXPECT_EQ(resets, StartStatesFromEnv(*env_, 60, config_.seed));
}

TEST_F(RolloutStageTest, TakesALearnedRewardInPlaceOfTheEnvironments) {
  std::fill(log_.log.rewards.begin(), log_.log.rewards.end(), 2.5);
  config_.task.reward = RewardFunction::kLearned;
  const FittedModels models = Fit(1);
  const ModelRollouts rollouts = RollOut(Context(), log_, models, policy_);
  EXPECT_EQ(rollouts.rewards, (Array<double, 3>({3, 20, kSmallHorizon}, 2.5)));
}

}  // namespace
}  // namespace lfiw::experiments
