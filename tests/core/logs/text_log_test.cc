#include "core/logs/text_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "core/statistics.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"
#include "tests/shared_data.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

LoadedLog LoadText(const std::string& text) {
  const TestDir dir;
  WriteFileAtomically(dir / "log", text);
  return LoadLog(dir / "log");
}

std::string LoadError(const std::string& text) {
  try {
    LoadText(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

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
  EXPECT_THAT(LoadError(header + "0,0,1,1,1,2\n"), HasSubstr("column terminated: '2'"));
  EXPECT_THAT(LoadError(header + "0,0,1,1,1,0\n0,2,1,1,1,0\n"),
              HasSubstr("line 3: step 2 follows step 0"));
  EXPECT_THAT(LoadError(header + "0,0,1,1,1,0\n1,0,1,1,1,0\n0,1,1,1,1,0\n"),
              HasSubstr("line 4: episode 0 occurs again"));
  EXPECT_THAT(LoadError(header + "0,0,1,1,1,1\n0,1,1,1,1,0\n"),
              HasSubstr("goes on after step 0 ended it"));
  EXPECT_THAT(LoadError(header), HasSubstr("no step in the file"));
  EXPECT_THAT(LoadError("a,b\n1,2\n"), HasSubstr("lacks obs_0, reward"));
  EXPECT_THAT(LoadError("episode,obs_1,action,reward\n"), HasSubstr("expected 'obs_0'"));
  EXPECT_THAT(LoadError("obs_0,action,reward\n1,1,1\n"), HasSubstr("episodes have no bounds"));
  EXPECT_THAT(LoadError(header + "0,0,\"1,1,1,1\n"), HasSubstr("a quote is not closed"));
}

// Conformance case C9.
TEST(CsvLog, AnImpossibleBehaviorProbabilityNamesEpisodeAndStep) {
  for (const char* probability : {"0", "-0.5", "nan", "7.99"}) {
    EXPECT_THAT(LoadError(std::string("episode,obs_0,action,reward,prob_0,terminated\n"
                                      "0,1,0,1,1,0\n0,2,0,1,") +
                          probability + ",1\n"),
                AllOf(HasSubstr("episode 0, step 1"), HasSubstr("probability")));
  }
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

TEST(JsonLog, OneObjectALine) {
  const LoadedLog log =
      LoadText(R"({"episode": 0, "t": 0, "observation": [1, 2], "action": 1, "reward": 3, )"
               R"("behavior_probability": 0.5, "terminated": false})"
               "\n"
               R"({"episode": 0, "t": 1, "observation": [3, 4], "action": 0, "reward": 4, )"
               R"("behavior_probability": 0.25, "terminated": true, "next_observation": [5, 6]})"
               "\n");
  EXPECT_EQ(log.info.format, "JSON lines");
  EXPECT_EQ(log.info.discrete_actions, 2);
  EXPECT_THAT(log.batch.terminated, ElementsAre(1));
  EXPECT_EQ(log.batch.observations, (MatrixF{{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}}));
  EXPECT_THAT(log.batch.behavior_log_density,
              ElementsAre(DoubleNear(std::log(0.5), 1e-12), DoubleNear(std::log(0.25), 1e-12)));
}

TEST(JsonLog, WrongLinesAreNamed) {
  const std::string good = R"({"episode": 0, "observation": [1], "action": [1], "reward": 3})"
                           "\n";
  EXPECT_THAT(LoadError(good + "{\n"), HasSubstr("line 2: not a JSON object"));
  EXPECT_THAT(LoadError(good + R"({"episode": 0, "observation": [1], "action": [1]})"),
              HasSubstr("line 2: reward is missing"));
  EXPECT_THAT(LoadError(good + R"({"episode": 0, "observation": ["x"], "action": [1]})"),
              HasSubstr("line 2: observation is missing or wrong"));
  EXPECT_THAT(
      LoadError(good + R"({"episode": 0, "observation": [1, 2], "action": [1], "reward": 1})"),
      HasSubstr("2 numbers in an observation, expected 1"));
  EXPECT_THAT(LoadError("{" + std::string(100'000, '[') + "\n"), HasSubstr("not a JSON object"));
}

TEST(JsonLog, ReAgentsScatteredTransitionsAreRefusedInOneLine) {
  const std::string path = SharedData("rl/logged/reagent_cartpole_training_data.json");
  if (path.empty()) GTEST_SKIP() << "the shared data is not here";
  try {
    LoadLog(path);
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("scattered single transitions"));
  }
}

}  // namespace
}  // namespace lfiw::core
