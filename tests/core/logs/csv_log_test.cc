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

}  // namespace
}  // namespace lfiw::core
