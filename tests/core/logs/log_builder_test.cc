#include "core/logs/log_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// An episode whose observations count from `first`.
RawEpisode Episode(std::int64_t steps, float first, std::int64_t observations) {
  RawEpisode episode;
  episode.name = "episode 3";
  episode.observations = MatrixF(observations, 1);
  for (Eigen::Index t = 0; t < observations; ++t) {
    episode.observations(t, 0) = first + static_cast<float>(t);
  }
  episode.actions = MatrixF::Constant(steps, 1, first);
  episode.rewards.assign(static_cast<std::size_t>(steps), first);
  episode.terminated = true;
  return episode;
}

struct Build {
  LogInfo info{.obs_dim = 1, .action_dim = 1};
  LogCounts counts;
  LogBuilder builder{info, 0, counts};
};

TEST(LogBuilder, WholeEpisodesKeepTheirLastObservationAndTheirEnd) {
  Build build;
  build.builder.Append(Episode(2, 10.0f, 3));
  build.builder.Append(Episode(1, 20.0f, 2));
  const EpisodeBatch log = build.builder.Finish();
  EXPECT_THAT(log.offsets, ElementsAre(0, 2, 3));
  EXPECT_EQ(log.observations, (MatrixF{{10.0f}, {11.0f}, {12.0f}, {20.0f}, {21.0f}}));
  EXPECT_THAT(log.rewards, ElementsAre(10.0, 10.0, 20.0));
  EXPECT_THAT(log.terminated, ElementsAre(1, 1));
  EXPECT_EQ(build.counts.file_steps, 3);
  EXPECT_EQ(build.counts.unrecorded_cuts, 0);
}

TEST(LogBuilder, ATerminalStepNeedsNoObservationAfterIt) {
  Build build;
  build.builder.Append(Episode(3, 10.0f, 3));
  build.builder.Append(Episode(1, 20.0f, 1));
  build.builder.Append(Episode(1, 30.0f, 2));
  const EpisodeBatch log = build.builder.Finish();
  EXPECT_THAT(log.offsets, ElementsAre(0, 3, 4, 5));
  EXPECT_THAT(log.rewards, ElementsAre(10.0, 10.0, 10.0, 20.0, 30.0));
  EXPECT_THAT(log.terminated, ElementsAre(1, 1, 1));
  EXPECT_THAT(log.end_unrecorded, ElementsAre(1, 1, 0));
  EXPECT_EQ(log.observations,
            (MatrixF{{10.0f}, {11.0f}, {12.0f}, {12.0f}, {20.0f}, {20.0f}, {30.0f}, {31.0f}}));
  EXPECT_EQ(build.counts.unrecorded_ends, 2);
  EXPECT_EQ(build.counts.unrecorded_cuts, 0);
  NoteUnrecordedEnds(build.info, build.counts);
  EXPECT_THAT(build.info.notes, ElementsAre(HasSubstr("2 episodes terminate without")));
}

TEST(LogBuilder, AnEndOfNaNIsNotRecorded) {
  Build build;
  RawEpisode episode = Episode(2, 10.0f, 3);
  episode.observations(2, 0) = std::nanf("");
  build.builder.Append(episode);
  const EpisodeBatch log = build.builder.Finish();
  EXPECT_THAT(log.end_unrecorded, ElementsAre(1));
  EXPECT_EQ(log.observations, (MatrixF{{10.0f}, {11.0f}, {11.0f}}));
}

TEST(LogBuilder, AnEndWithoutItsAuxIsNotRecorded) {
  LogInfo info{.obs_dim = 1, .action_dim = 1};
  LogCounts counts;
  LogBuilder builder(info, 1, counts);
  RawEpisode episode = Episode(2, 10.0f, 3);
  episode.aux = MatrixF::Constant(1, 1, 5.0f);
  builder.Append(episode);
  const EpisodeBatch log = builder.Finish();
  EXPECT_THAT(log.end_unrecorded, ElementsAre(1));
  EXPECT_EQ(log.aux, (MatrixF{{5.0f}, {0.0f}}));
  EXPECT_EQ(log.observations, (MatrixF{{10.0f}, {11.0f}, {11.0f}}));
}

TEST(LogBuilder, ACutStepKeepsItsRewardWithoutTheObservationAfterIt) {
  Build build;
  for (RawEpisode episode : {Episode(3, 10.0f, 3), Episode(1, 20.0f, 1)}) {
    episode.terminated = false;
    build.builder.Append(episode);
  }
  const EpisodeBatch log = build.builder.Finish();
  EXPECT_THAT(log.offsets, ElementsAre(0, 3, 4));
  EXPECT_THAT(log.rewards, ElementsAre(10.0, 10.0, 10.0, 20.0));
  EXPECT_THAT(log.terminated, ElementsAre(0, 0));
  EXPECT_THAT(log.end_unrecorded, ElementsAre(1, 1));
  EXPECT_EQ(log.Outcomes(0), 2);
  // what follows the last step is of use only where the horizon ends there
  EXPECT_EQ(log.UsableSteps(0, 3), 3);
  EXPECT_EQ(log.UsableSteps(0, 4), 2);
  EXPECT_EQ(build.counts.unrecorded_cuts, 2);
  EXPECT_EQ(build.counts.discarded_episodes, 0);
  NoteUnrecordedEnds(build.info, build.counts);
  EXPECT_THAT(build.info.notes, ElementsAre(HasSubstr("2 episodes are cut without")));
}

TEST(LogBuilder, ArraysOfDifferentLengthNameTheEpisode) {
  Build build;
  RawEpisode episode = Episode(2, 0.0f, 3);
  episode.rewards.pop_back();
  EXPECT_THAT([&] { build.builder.Append(episode); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("episode 3"), HasSubstr("1 rewards"))));
  EXPECT_THAT([&] { build.builder.Append(Episode(2, 0.0f, 5)); },
              ThrowsMessage<DataError>(HasSubstr("5 observations of 2 steps")));
}

TEST(AddNote, TheSameNoteStaysOne) {
  LogInfo info;
  AddNote(info, "a");
  AddNote(info, "b");
  AddNote(info, "a");
  EXPECT_THAT(info.notes, ElementsAre("a", "b"));
}

TEST(AddNote, WhatItQuotesIsPrintable) {
  LogInfo info;
  AddNote(info, "column 'a\nb\x1b'");
  EXPECT_THAT(info.notes, ElementsAre("column 'a\\nb\\x1b'"));
}

TEST(OneHot, EachRowHasItsOneAndOthersAreRefused) {
  EXPECT_EQ(OneHot({2, 0}, 3, "x"), (MatrixF{{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}}));
  EXPECT_THAT(
      [] {
        OneHot({0, 3}, 3, "x");
      },
      ThrowsMessage<DataError>(AllOf(HasSubstr("x: action 3"), HasSubstr("row 1"))));
}

TEST(GuessTimeLimit, IsTheLongestLengthIfItRepeats) {
  EXPECT_EQ(GuessTimeLimit({5, 3, 5}), 5);
  EXPECT_EQ(GuessTimeLimit({5, 3, 3}), 0);
  EXPECT_EQ(GuessTimeLimit({}), 0);
}

TEST(CheckEpisodeSize, TheLimitIs256MiBOfFloats) {
  EXPECT_NO_THROW(CheckEpisodeSize(1 << 20, 64, "x"));
  EXPECT_THROW(CheckEpisodeSize((1 << 20) + 1, 64, "x"), DataError);
}

}  // namespace
}  // namespace lfiw::core
