#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/logs/open_log.h"
#include "core/logs/text_log.h"
#include "core/run/atomic_file.h"
#include "core/statistics.h"
#include "tests/core/logs/text_samples.h"
#include "tests/core/test_dir.h"
#include "tests/shared_data.h"

namespace lfiw::core {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CsvLog, ALineWithoutActionHoldsTheLastObservation) {
  const LoadedLog log = LoadText(
      "episode,t,obs_0,obs_1,action_0,reward,terminated,truncated,behavior_log_density\n"
      "a,0,1,2,0.5,10,0,0,-1\n"
      "a,1,3,4,-0.5,11,1,0,-2\n"
      "a,2,5,6,,,,,\n"
      "b,0,7,8,0.25,12,0,1,-3\r\n"
      "b,1,9,10,,,,,\r\n");
  EXPECT_EQ(log.info.format, "CSV");
  EXPECT_THAT(log.batch.offsets, ElementsAre(0, 2, 3));
  EXPECT_THAT(log.batch.terminated, ElementsAre(1, 0));
  EXPECT_THAT(log.batch.rewards, ElementsAre(10, 11, 12));
  EXPECT_THAT(log.batch.behavior_log_density, ElementsAre(-1, -2, -3));
  EXPECT_EQ(log.batch.observations,
            (MatrixF{{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}, {7.0f, 8.0f}, {9.0f, 10.0f}}));
  EXPECT_EQ(log.batch.actions, (MatrixF{{0.5f}, {-0.5f}, {0.25f}}));
}

TEST(CsvLog, DiscreteActionsHaveTheProbabilityOfTheActionTaken) {
  const LoadedLog log = LoadText(
      "obs_0,action,reward,terminated,next_obs_0,prob_0,prob_1,prob_2\n"
      "1,1,0,0,2,0.25,0.5,0.25\n"
      "2,0,5,1,3,0.125,0.5,0.375\n");
  EXPECT_EQ(log.info.discrete_actions, 3);
  EXPECT_THAT(log.batch.offsets, ElementsAre(0, 2));
  EXPECT_THAT(log.batch.behavior_log_density,
              ElementsAre(DoubleNear(std::log(0.5), 1e-12), DoubleNear(std::log(0.125), 1e-12)));
  EXPECT_EQ(log.batch.observations, (MatrixF{{1.0f}, {2.0f}, {3.0f}}));
  EXPECT_EQ(log.counts.continuity_checked, 1);
  EXPECT_EQ(log.counts.continuity_broken, 0);
}

TEST(CsvLog, EverythingWrongNamesItsLine) {
  const std::string header = "episode,t,obs_0,action_0,reward,terminated\n";
  EXPECT_THAT(LoadError(header + "0,0,1,1\n"), HasSubstr("line 2: 4 fields, the header has 6"));
  EXPECT_THAT(LoadError(header + "0,0,x,1,1,0\n"), HasSubstr("line 2, column obs_0: 'x'"));
  EXPECT_THAT(LoadError(header + "0,0.5,1,1,1,0\n"),
              HasSubstr("column t: '0.5', expected a whole number"));
  EXPECT_THAT(LoadError(header + "0,0,1,1,1,2\n"), HasSubstr("column terminated: '2'"));
  EXPECT_THAT(LoadError("a,b\n1,2\n"), HasSubstr("lacks obs_0, reward"));
  EXPECT_THAT(LoadError("episode,obs_1,action,reward\n"), HasSubstr("expected 'obs_0'"));
  EXPECT_THAT(LoadError("t,step,obs_0,action,reward\n"), HasSubstr("two columns for the same"));
  EXPECT_THAT(LoadError("obs_0,action,reward\n1,1,1\n"), HasSubstr("episodes have no bounds"));
  EXPECT_THAT(LoadError(header + "0,0,\"1,1,1,1\n"), HasSubstr("a quote is not closed"));
}

class OpenCsvTest : public testing::Test {
 protected:
  TextFormat Open(const std::string& text) {
    WriteFileAtomically(dir_ / "log.csv", text);
    return OpenCsv(dir_ / "log.csv");
  }
  TestDir dir_;
};

TEST_F(OpenCsvTest, ColumnsThatAreUnknownAreIgnoredWithANote) {
  const TextFormat format = Open("episode,time,obs_0,action_0,reward,weather\n");
  EXPECT_THAT(format.notes, ElementsAre("ignored columns: time, weather"));
  EXPECT_FALSE(format.has_ends);
  EXPECT_THAT(Open("episode,obs_0,action_0,reward,timeout\n").notes, IsEmpty());
}

TEST_F(OpenCsvTest, AByteOrderMarkIsNoPartOfTheFirstName) {
  EXPECT_THAT(Open("\xEF\xBB\xBF"
                   "episode,obs_0,action,reward\n")
                  .notes,
              IsEmpty());
}

TEST_F(OpenCsvTest, FlagsAreWordsOrNumbers) {
  const auto source = Open(
                          "obs_0,action,reward,terminated,truncated\n"
                          "1,0,1,true,FALSE\n1,0,1,,1.0\n")
                          .open();
  const auto first = source->Next(), second = source->Next();
  EXPECT_TRUE(first->terminated);
  EXPECT_FALSE(first->truncated);
  EXPECT_FALSE(second->terminated);
  EXPECT_TRUE(second->truncated);
  EXPECT_EQ(source->line(), 3);
  EXPECT_FALSE(source->Next());
}

TEST_F(OpenCsvTest, ProbabilitiesMayBeOneListAsCoachWritesThem) {
  const TextFormat format = Open(
      "action,all_action_probabilities,episode_id,reward,"
      "state_feature_0,state_feature_1,transition_number\n"
      "1,\"[0.25,0.75]\",8,-1,2,3,4\n");
  EXPECT_EQ(format.name, "Coach CSV");
  const auto record = format.open()->Next();
  EXPECT_THAT(record->probabilities, ElementsAre(0.25, 0.75));
  EXPECT_THAT(record->observation, ElementsAre(2.0f, 3.0f));
  EXPECT_EQ(record->episode, "8");
  EXPECT_EQ(record->t, 4);
  EXPECT_EQ(record->discrete_action, 1);
}

TEST(CsvLog, CoachAcrobot) {
  const std::string path = SharedData("rl/logged/coach_acrobot_dataset.csv");
  if (path.empty()) GTEST_SKIP() << "the shared data is not here";
  const LoadedLog log = LoadLog(path);
  EXPECT_EQ(log.info.format, "Coach CSV");
  EXPECT_EQ(log.batch.episodes(), 30);
  EXPECT_EQ(log.batch.steps(), 9804);
  EXPECT_NEAR(Mean(Returns(log.batch)), -326.23, 0.005);
  EXPECT_EQ(log.info.discrete_actions, 3);
  EXPECT_NEAR(log.batch.behavior_log_density[0], std::log(0.4159157), 1e-12);
  // 500 steps without reaching the goal is Acrobot's time limit
  EXPECT_EQ(log.batch.terminated[0], 1);
  EXPECT_EQ(log.batch.terminated[2], 0);
}

// ---- empty cells

TEST(CsvLog, AnEmptyCellIsNoZero) {
  const std::string header = "episode,t,obs_0,obs_1,action_0,action_1,reward,truncated\n";
  const std::string good = "0,0,1,1,1,1,1,0\n";
  EXPECT_THAT(LoadError(header + good + "0,1,1,1,1,1,,1\n"),
              HasSubstr("line 3, column reward: the cell is empty, expected a number"));
  EXPECT_THAT(LoadError(header + good + "0,1,1,1,1,,1,1\n"), HasSubstr("column action_1"));
  EXPECT_THAT(LoadError(header + good + "0,1,1,,1,1,1,1\n"), HasSubstr("column obs_1"));
  EXPECT_THAT(LoadError(header + good + "0,,1,1,1,1,1,1\n"), HasSubstr("column t"));
  EXPECT_THAT(LoadError(header + good + ",1,1,1,1,1,1,1\n"), HasSubstr("column episode"));
  EXPECT_THAT(LoadError(header + good + "0,1,1,,,,,\n"), HasSubstr("column obs_1"));
}

TEST(CsvLog, AnEmptyActionIsSaid) {
  const std::string header = "episode,obs_0,action,reward,truncated\n";
  EXPECT_THAT(LoadError(header + "0,1,1,1,0\n0,2,,1,0\n0,3,1,1,1\n"),
              HasSubstr("line 3: the action is empty, but reward is not"));
  EXPECT_THAT(LoadError(header + "0,1,1,1,0\n0,2,,,0\n0,3,1,1,1\n"),
              HasSubstr("line 3: no action, but the episode goes on after it"));
  const std::string nameless = "obs_0,action,reward,truncated\n";
  EXPECT_THAT(LoadError(nameless + "1,1,1,0\n2,,,0\n3,1,1,1\n"),
              HasSubstr("line 3: no action, but the episode goes on after it"));
}

TEST(CsvLog, WithoutNamesOfEpisodesTheLastObservationFollowsTheFlag) {
  const LoadedLog log =
      LoadText("obs_0,action,reward,terminated\n1,1,1,0\n2,0,1,1\n3,,,\n4,1,1,1\n5,,,\n");
  EXPECT_THAT(log.batch.offsets, ElementsAre(0, 2, 3));
  EXPECT_EQ(log.batch.observations, (MatrixF{{1.0f}, {2.0f}, {3.0f}, {4.0f}, {5.0f}}));
  EXPECT_TRUE(log.batch.end_unrecorded.empty());
}

TEST(CsvLog, AFlagBesideTheLastObservationCounts) {
  const LoadedLog log =
      LoadText("episode,obs_0,action,reward,terminated\n0,1,1,1,0\n0,2,,,1\n1,1,1,1,0\n1,2,,,0\n");
  EXPECT_THAT(log.batch.terminated, ElementsAre(1, 0));
}

TEST(CsvLog, ALastStepKeepsItsRewardWithoutAnObservationAfterIt) {
  const LoadedLog log = LoadText(
      "episode,obs_0,action,reward,terminated,truncated\n"
      "0,1,1,0,0,0\n0,2,0,10,1,0\n1,3,1,-10,1,0\n2,4,1,5,0,0\n2,5,1,6,0,1\n");
  EXPECT_THAT(log.batch.offsets, ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(log.batch.rewards, ElementsAre(0, 10, -10, 5, 6));
  EXPECT_THAT(log.batch.terminated, ElementsAre(1, 1, 0));
  EXPECT_THAT(log.batch.end_unrecorded, ElementsAre(1, 1, 1));
}

// ---- as spreadsheets and other tools write it

// Two steps of one episode and its last observation.
void ExpectTwoSteps(const std::string& text) {
  const LoadedLog log = LoadText(text);
  EXPECT_THAT(log.batch.offsets, ElementsAre(0, 2));
  EXPECT_EQ(log.batch.observations, (MatrixF{{1.5f}, {2.5f}, {3.5f}}));
  EXPECT_EQ(log.batch.actions, (MatrixF{{0.25f}, {-0.25f}}));
  EXPECT_THAT(log.batch.rewards, ElementsAre(1, 2));
}

TEST(CsvLog, OtherSeparatorsAndLineEndsAreRead) {
  ExpectTwoSteps("episode,obs_0,action_0,reward\n0,1.5,0.25,1\n0,2.5,-0.25,2\n0,3.5,,\n");
  ExpectTwoSteps(
      "sep=;\r\nepisode;obs_0;action_0;reward\r\n0;1,5;0,25;1\r\n0;2,5;-0,25;2\r\n0;3,5;;\r\n");
  ExpectTwoSteps(
      "episode\tobs_0\taction_0\treward\n0\t1.5\t0.25\t1\n0\t2.5\t-0.25\t2\n0\t3.5\t\t\n");
  ExpectTwoSteps("episode,obs_0,action_0,reward\r0,1.5,0.25,1\r0,2.5,-0.25,2\r0,3.5,,\r");
  ExpectTwoSteps(
      "# by a tool\n\nEpisode, Obs_0, Action_0, Reward\n0, 1.5, 0.25, 1\n0, 2.5, -0.25, 2\n0, 3.5, "
      ", \n,,,\n");
  ExpectTwoSteps(",episode,obs_0,action_0,reward\n0,0,1.5,0.25,1\n1,0,2.5,-0.25,2\n2,0,3.5,,\n");
}

TEST(CsvLog, NumberedColumnsMayStandInAnyOrder) {
  const LoadedLog log = LoadText(
      "episode,obs_0,obs_1,obs_10,obs_2,obs_3,obs_4,obs_5,obs_6,obs_7,obs_8,obs_9,action,reward,"
      "terminated\n0,0,1,10,2,3,4,5,6,7,8,9,1,1,1\n");
  for (Eigen::Index k = 0; k < 11; ++k) {
    EXPECT_EQ(log.batch.observations(0, k), static_cast<float>(k));
  }
}

TEST(CsvLog, ColumnsThatOnlyBeginLikeANumberedOneAreOthers) {
  const LoadedLog log = LoadText(
      "episode,obs_0,obs_time,action,action_prob,action_name,reward,terminated\n"
      "0,1,12,1,0.5,x,1,1\n");
  EXPECT_EQ(log.info.obs_dim, 1);
  EXPECT_NEAR(log.batch.behavior_log_density.at(0), std::log(0.5), 1e-12);
  EXPECT_THAT(log.info.notes, testing::Contains("ignored columns: obs_time, action_name"));
}

TEST(CsvLog, PropensitiesHaveTheNamesThatJsonKnows) {
  for (const char* name :
       {"pscore", "propensity", "action_prob", "probability", "behavior_probability"}) {
    const LoadedLog log = LoadText(std::string("episode,obs_0,action,reward,terminated,") + name +
                                   "\n0,1,1,1,1,0.25\n");
    EXPECT_NEAR(log.batch.behavior_log_density.at(0), std::log(0.25), 1e-12) << name;
  }
  EXPECT_THAT(LoadText("episode,obs_0,action,reward,terminated,logp\n0,1,1,1,1,-2\n")
                  .batch.behavior_log_density,
              ElementsAre(-2));
}

TEST(CsvLog, WhatIsNoTableOfStepsIsNamedWithACure) {
  EXPECT_THAT(LoadError("0.5,1,2,3\n"), HasSubstr("write a header first"));
  EXPECT_THAT(LoadError("\xFF\xFE"
                        "e\0p\0"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(LoadError("episode,obs_0,action,reward,done\n0,1,1,1,1\n"),
              HasSubstr("column 'done' says that an episode ended, but not whether"));
}

TEST(CsvLog, MessagesStayShortAndPrintableWhateverTheFileHolds) {
  const std::string error = LoadError(std::string(3000, 'x') + ",\x1b[31mred,obs_1\n");
  EXPECT_THAT(error, HasSubstr("\\x1b[31mred"));
  EXPECT_LT(error.size(), 600u);
}

}  // namespace
}  // namespace lfiw::core
