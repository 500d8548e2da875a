#include "core/logs/episode_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"

namespace lfiw::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two episodes of 2 and 3 steps; observation value = 10 * episode + t, action = 100 * that.
EpisodeBatch TwoEpisodes() {
  EpisodeBatch log;
  log.observations.resize(7, 1);
  log.observations << 0, 1, 2, 10, 11, 12, 13;
  log.actions.resize(5, 1);
  log.actions << 0, 100, 1000, 1100, 1200;
  log.aux.resize(5, 0);
  log.rewards = {1, 2, 3, 4, 5};
  log.offsets = {0, 2, 5};
  log.terminated = {0, 1};
  return log;
}

TEST(EpisodeBatch, TransitionsNeverCrossEpisodes) {
  const std::vector<std::int64_t> both = {0, 1};
  const Transitions t = GatherTransitions(TwoEpisodes(), both);
  ASSERT_EQ(t.size(), 5);
  for (Eigen::Index i = 0; i < 5; ++i) {
    EXPECT_EQ(t.next_states(i, 0), t.states(i, 0) + 1);
    EXPECT_EQ(t.actions(i, 0), 100 * t.states(i, 0));
  }
}

TEST(EpisodeBatch, SelectEpisodesRepeatsAndReorders) {
  const std::vector<std::int64_t> order = {1, 0, 1};
  const EpisodeBatch picked = SelectEpisodes(TwoEpisodes(), order);
  EXPECT_NO_THROW(Validate(picked, "picked"));
  EXPECT_THAT(picked.offsets, ElementsAre(0, 3, 5, 8));
  EXPECT_THAT(picked.terminated, ElementsAre(1, 0, 1));
  EXPECT_THAT(picked.rewards, ElementsAre(3, 4, 5, 1, 2, 3, 4, 5));
  EXPECT_EQ(picked.observations(picked.ObservationRow(2, 3), 0), 13);
}

TEST(EpisodeBatch, ConcatenationOfTheEpisodesIsTheWhole) {
  const EpisodeBatch whole = TwoEpisodes();
  std::vector<EpisodeBatch> parts;
  for (const std::int64_t e : {0, 1}) {
    const std::int64_t episode[] = {e};
    parts.push_back(SelectEpisodes(whole, episode));
  }
  const EpisodeBatch joined = ConcatenateEpisodes(parts);
  EXPECT_NO_THROW(Validate(joined, "joined"));
  EXPECT_EQ(joined.offsets, whole.offsets);
  EXPECT_EQ(joined.observations, whole.observations);
  EXPECT_EQ(joined.actions, whole.actions);
  EXPECT_EQ(joined.rewards, whole.rewards);
  EXPECT_EQ(joined.terminated, whole.terminated);
  EXPECT_EQ(ConcatenateEpisodes({}).episodes(), 0);
}

TEST(EpisodeBatch, ReturnsAreDiscountedWithinEachEpisode) {
  EXPECT_THAT(Returns(TwoEpisodes()), ElementsAre(3, 12));
  EXPECT_THAT(Returns(TwoEpisodes(), 0.5), ElementsAre(2, 3 + 2 + 1.25));
  EXPECT_THAT(Returns(TwoEpisodes(), 0.0), ElementsAre(1, 3));
}

TEST(EpisodeBatch, ValidateNamesEpisodeAndStepOfNaN) {
  EpisodeBatch log = TwoEpisodes();
  log.actions(3, 0) = std::numeric_limits<float>::quiet_NaN();
  try {
    Validate(log, "log.npz");
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("log.npz: episode 1, step 1: action[0]"));
  }
}

TEST(EpisodeBatch, ValidateRejectsDisagreeingShapes) {
  EpisodeBatch log = TwoEpisodes();
  log.rewards.pop_back();
  EXPECT_THROW(Validate(log, "log"), DataError);
}

// The second episode ends without the observation after its last step.
EpisodeBatch UnrecordedEnd() {
  EpisodeBatch log = TwoEpisodes();
  log.observations(6, 0) = 12;
  log.end_unrecorded = {0, 1};
  return log;
}

TEST(EpisodeBatch, AnUnrecordedEndIsNoTransitionButCountsInTheReturn) {
  const EpisodeBatch log = UnrecordedEnd();
  EXPECT_NO_THROW(Validate(log, "log"));
  EXPECT_EQ(log.Length(1), 3);
  EXPECT_EQ(log.Outcomes(0), 2);
  EXPECT_EQ(log.Outcomes(1), 2);
  const std::vector<std::int64_t> episodes = {1, 0};
  const Transitions t = GatherTransitions(log, episodes);
  EXPECT_EQ(t.states, (MatrixF{{10.0f}, {11.0f}, {0.0f}, {1.0f}}));
  EXPECT_EQ(t.next_states, (MatrixF{{11.0f}, {12.0f}, {1.0f}, {2.0f}}));
  EXPECT_THAT(Returns(log), ElementsAre(3, 12));
}

TEST(EpisodeBatch, UnrecordedEndsFollowTheirEpisodes) {
  const EpisodeBatch log = UnrecordedEnd();
  const std::vector<std::int64_t> order = {1, 0}, first = {0};
  EXPECT_THAT(SelectEpisodes(log, order).end_unrecorded, ElementsAre(1, 0));
  EXPECT_TRUE(SelectEpisodes(log, first).end_unrecorded.empty());
  const std::vector<EpisodeBatch> parts = {TwoEpisodes(), log};
  EXPECT_THAT(ConcatenateEpisodes(parts).end_unrecorded, ElementsAre(0, 0, 0, 1));
}

}  // namespace
}  // namespace lfiw::core
