#include "experiments/evaluation/fit_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// Fits the models of a small log by a few steps each.
class FitModelsTest : public SmallEvaluation {};

TEST_F(FitModelsTest, ALongerHorizonIsJudgedByItsOwnOpenLoopError) {
  const FittedModels near = Fit(1);
  config_.value.horizon = kSmallSteps;
  const FittedModels far = Fit(1);
  EXPECT_THAT(near.dynamics_report.open_loop, SizeIs(5));
  EXPECT_THAT(far.dynamics_report.open_loop, SizeIs(kSmallSteps));
  // nothing was trained again for it
  EXPECT_THAT(Computed(), Contains("dynamics").Times(1));
  EXPECT_THAT(Computed(), Contains("dynamics_report").Times(2));
}

TEST_F(FitModelsTest, MoreClassifiersCostOnlyTheNewOnes) {
  const FittedModels two = Fit(2);
  const FittedModels three = Fit(3);
  EXPECT_THAT(Computed(), Contains("classifier").Times(3));
  EXPECT_THAT(three.classifiers, SizeIs(3));
  EXPECT_THAT(three.classifier_histories, SizeIs(3));
  EXPECT_EQ(two.model_hashes, three.model_hashes);
  EXPECT_EQ(two.classifier_histories[1], three.classifier_histories[1]);
  EXPECT_EQ(three.held_out.real.size(), three.held_out.generated.size());
}

TEST_F(FitModelsTest, HistoriesAreOneForEachMember) {
  const FittedModels models = Fit(1);
  ASSERT_THAT(models.dynamics_histories, SizeIs(2));
  EXPECT_EQ(models.dynamics_histories[0].steps.back(), 20);
  EXPECT_NE(models.dynamics_histories[0], models.dynamics_histories[1]);
}

TEST_F(FitModelsTest, WithoutALoggedEndNoTerminationIsLearned) {
  config_.task.termination = TerminationSource::kLearned;
  const FittedModels models = Fit(1);
  EXPECT_EQ(models.termination, nullptr);
  EXPECT_FALSE(models.learned.termination);
  EXPECT_THAT(models.learned.termination_note, HasSubstr("no episode of the log ends"));
  EXPECT_THAT(Computed(), Not(Contains("learned_function")));
}

// Every second episode ends earlier, at any state.
EpisodeBatch WithEarlyEnds(const EpisodeBatch& log) {
  std::vector<EpisodeBatch> parts;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t one[] = {e};
    EpisodeBatch part = SelectEpisodes(log, one);
    part.terminated[0] = e % 2 == 0 ? 1 : 0;
    if (e % 2 == 0) {
      const std::int64_t steps = 5 + e;
      part.offsets[1] = steps;
      part.observations.conservativeResize(steps + 1, Eigen::NoChange);
      part.actions.conservativeResize(steps, Eigen::NoChange);
      part.aux.conservativeResize(steps, Eigen::NoChange);
      part.rewards.resize(static_cast<std::size_t>(steps));
      if (!part.behavior_log_density.empty()) {
        part.behavior_log_density.resize(static_cast<std::size_t>(steps));
      }
    }
    parts.push_back(std::move(part));
  }
  return ConcatenateEpisodes(parts);
}

TEST_F(FitModelsTest, EndsByChanceAreLearnedAndThoseAtTheLimitAreNot) {
  config_.task.termination = TerminationSource::kLearned;
  config_.task.learned.fit.steps = 20;
  std::ranges::fill(log_.log.terminated, 1);
  EXPECT_EQ(Fit(1).termination, nullptr);
  log_.log = WithEarlyEnds(log_.log);
  log_.hash = "log with ends";
  EXPECT_NE(Fit(1).termination, nullptr);
}

TEST_F(FitModelsTest, EndsAtTheHorizonAreLeftOutWhereMostAreThere) {
  config_.task.termination = TerminationSource::kLearned;
  config_.task.learned.fit.steps = 20;
  config_.value.horizon = kSmallSteps;
  // all that reach the horizon are marked as terminal: none is left
  std::ranges::fill(log_.log.terminated, 1);
  log_.hash = "log of ends at the horizon";
  const FittedModels none = Fit(1);
  EXPECT_EQ(none.termination, nullptr);
  EXPECT_THAT(none.learned.termination_note, HasSubstr("no episode of the log ends"));
  // others stay
  log_.log = WithEarlyEnds(log_.log);
  std::ranges::fill(log_.log.terminated, 1);
  log_.hash = "log of ends at the horizon and before";
  const FittedModels some = Fit(1);
  EXPECT_NE(some.termination, nullptr);
}

TEST_F(FitModelsTest, ALearnedRewardComesWithItsHeldOutErrors) {
  config_.task.reward = RewardFunction::kLearned;
  config_.task.learned.fit.steps = 20;
  const FittedModels models = Fit(1);
  ASSERT_NE(models.reward, nullptr);
  ASSERT_TRUE(models.learned.reward);
  EXPECT_GE(models.learned.reward->rmse, 0.0);
  EXPECT_THAT(models.model_hashes, SizeIs(2));
}

}  // namespace
}  // namespace lfiw::experiments
