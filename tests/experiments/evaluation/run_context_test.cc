#include "experiments/evaluation/run_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/config/config.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/sha256.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class RunContextTest : public SmallEvaluation {};

TEST_F(RunContextTest, TheKeyOfATaskHoldsWhatDecidesRewardsEndsAndActions) {
  task_.spec.name = "Other";
  task_.spec.action_low = VectorD{{-1.0}};
  task_.spec.action_high = VectorD{{2.0}};
  config_.task.reward = RewardFunction::kLearned;
  config_.task.termination = TerminationSource::kNone;
  const TaskKey key = TaskKeyOf(Context());
  EXPECT_EQ(key.environment, "Other");
  EXPECT_EQ(key.reward, RewardFunction::kLearned);
  EXPECT_EQ(key.termination, TerminationSource::kNone);
  EXPECT_THAT(key.action_low, ElementsAre(-1.0));
  EXPECT_THAT(key.action_high, ElementsAre(2.0));
}

TEST_F(RunContextTest, TheKeyOfATaskChangesWithEachOfItsFieldsAndWithNothingElse) {
  const auto text = [&] { return CanonicalText(TaskKeyOf(Context())); };
  std::vector<std::string> texts = {text()};
  // what of the configuration and the task is no part of it
  config_.value.horizon = 7;
  config_.seed = 9;
  config_.task.learned.members = 1;
  task_.spec.max_episode_steps = 3;
  EXPECT_EQ(text(), texts.front());

  task_.spec.name = "Other";
  texts.push_back(text());
  config_.task.reward = RewardFunction::kLearned;
  texts.push_back(text());
  config_.task.termination = TerminationSource::kNone;
  texts.push_back(text());
  task_.spec.action_low = VectorD{{-1.0}};
  texts.push_back(text());
  task_.spec.action_high = VectorD{{1.0}};
  texts.push_back(text());
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
}

TEST_F(RunContextTest, UnboundedActionsHaveAKeyToo) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(TaskKeyOf(Context()).action_high, ElementsAre(infinity));
  EXPECT_THAT(CanonicalText(TaskKeyOf(Context())), HasSubstr("inf"));
}

TEST_F(RunContextTest, StagesAreWatchedAsTheRunSays) {
  config_.checkpoint_seconds = 12.5;
  const StageWork work = Context().Work();
  EXPECT_EQ(work.checkpoint_seconds, 12.5);
  EXPECT_TRUE(work.directory.empty());
  testing::internal::CaptureStderr();
  work.StartProgress("title", 3, "steps")->Advance(3);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(RunContextTest, ALoadedPolicyComesWithTheHashOfItsFile) {
  const std::string path = dir_ / "policy.npz";
  ConstantPolicy(0.25, 2.0).Save(path);
  const PolicySource source = LoadPolicySource(path, "mine");
  EXPECT_EQ(source.path, path);
  EXPECT_EQ(source.label, "mine");
  EXPECT_EQ(source.hash, Sha256Hex(ReadFile(path)));
  MatrixF action(1, 1);
  source.policy->Mean(MatrixF::Zero(1, 2), std::vector<std::int64_t>{0}, action);
  EXPECT_EQ(action(0, 0), 0.25f);
  EXPECT_THAT([&] { LoadPolicySource(dir_ / "none.npz", "none"); },
              ThrowsMessage<Error>(HasSubstr("none.npz")));
}

TEST(SupportedSteps, AreThoseThatEnoughEpisodesTake) {
  EXPECT_EQ(SupportedSteps({}), 0);
  EpisodeBatch log;
  log.offsets = {0, 7};
  EXPECT_EQ(SupportedSteps(log), 7);  // there is no other
  log.offsets = {0, 7, 10, 14};
  EXPECT_EQ(SupportedSteps(log), 4);
  log.offsets = {0};
  for (std::int64_t e = 1; e <= 100; ++e) log.offsets.push_back(log.offsets.back() + e);
  EXPECT_EQ(SupportedSteps(log), 96);
}

TEST(FindingsText, ListsThoseOfOneGradeWithTheirCures) {
  const std::vector<Finding> findings = {{Severity::kError, "a", "rows are shifted", "shift them"},
                                         {Severity::kWarning, "b", "few episodes", ""},
                                         {Severity::kError, "c", "no reward", ""}};
  EXPECT_EQ(FindingsText(findings, Severity::kError), "rows are shifted (shift them); no reward");
  EXPECT_EQ(FindingsText(findings, Severity::kWarning), "few episodes");
  EXPECT_EQ(FindingsText({}, Severity::kWarning), "");
}

TEST(LongestEpisode, IsThatWithTheMostSteps) {
  EXPECT_EQ(LongestEpisode({}), 0);
  EpisodeBatch log;
  log.offsets = {0, 2, 7, 10};
  EXPECT_EQ(LongestEpisode(log), 5);
}

}  // namespace
}  // namespace lfiw::experiments
