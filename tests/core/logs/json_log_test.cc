#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/logs/open_log.h"
#include "core/logs/text_log.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/text_samples.h"
#include "tests/core/test_dir.h"
#include "tests/shared_data.h"

namespace lfiw::core {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

class OpenJsonLinesTest : public testing::Test {
 protected:
  TextFormat Open(const std::string& text) {
    WriteFileAtomically(dir_ / "log.jsonl", text);
    return OpenJsonLines(dir_ / "log.jsonl");
  }
  // The record of a line with an observation and these fields.
  StepRecord Record(const std::string& fields) {
    return *Open(R"({"observation": [1], "reward": 2, )" + fields + "}\n").open()->Next();
  }
  TestDir dir_;
};

TEST_F(OpenJsonLinesTest, WholeNumbersAreDiscreteActionsAndOthersAreNot) {
  EXPECT_EQ(Record(R"("action": 3)").discrete_action, 3);
  EXPECT_THAT(Record(R"("action": 3.5)").action, ElementsAre(3.5f));
  EXPECT_THAT(Record(R"("action": [1, 2])").action, ElementsAre(1.0f, 2.0f));
  const StepRecord last = *Open(R"({"observation": [1], "action": null, "reward": null})"
                                "\n")
                               .open()
                               ->Next();
  EXPECT_FALSE(last.has_action());
  EXPECT_THAT(last.action, IsEmpty());
}

TEST_F(OpenJsonLinesTest, EpisodesAreNumbersOrTexts) {
  EXPECT_EQ(Record(R"("action": 0, "episode": 12)").episode, "12");
  EXPECT_EQ(Record(R"("action": 0, "episode": "a")").episode, "a");
  EXPECT_FALSE(Record(R"("action": 0)").episode);
}

TEST_F(OpenJsonLinesTest, FlagsAreTrueOrFalseOrOneOrZero) {
  EXPECT_TRUE(Record(R"("action": 0, "terminated": 1)").terminated);
  EXPECT_FALSE(Record(R"("action": 0, "truncated": 0)").truncated);
  EXPECT_TRUE(Record(R"("action": 0, "truncated": true)").truncated);
  EXPECT_THAT([&] { Record(R"("action": 0, "truncated": "no")"); },
              testing::ThrowsMessage<DataError>(
                  HasSubstr("line 1: truncated is missing or wrong, expected true or false")));
}

TEST_F(OpenJsonLinesTest, NamesOfOtherToolsAreKnownAndOthersAreNoted) {
  EXPECT_EQ(Record(R"("action": 0, "pscore": 0.25)").probability, 0.25);
  EXPECT_EQ(Record(R"("action": 0, "action_prob": 0.5)").probability, 0.5);
  EXPECT_EQ(Record(R"("action": 0, "logp": -1.5)").log_density, -1.5);
  EXPECT_TRUE(Record(R"("action": 0, "termination": true)").terminated);
  EXPECT_TRUE(Record(R"("action": 0, "timeout": true)").truncated);
  EXPECT_THAT(Open(R"({"obs": [1], "action": 0, "reward": 1, "weather": 3})"
                   "\n")
                  .notes,
              testing::ElementsAre("ignored fields: weather"));
}

TEST(JsonLog, FlagsCountOnTheLinesThatHaveThem) {
  const LoadedLog log = LoadText(
      R"({"episode": 0, "observation": [1], "action": [1], "reward": 3})"
      "\n"
      R"({"episode": 0, "observation": [2], "action": [1], "reward": 4, "terminated": true})"
      "\n"
      R"({"episode": 1, "observation": [3], "action": [1], "reward": 5})"
      "\n"
      R"({"episode": 1, "observation": [4]})"
      "\n");
  EXPECT_THAT(log.batch.terminated, ElementsAre(1, 0));
  EXPECT_THAT(log.batch.rewards, ElementsAre(3, 4, 5));
}

TEST(JsonLog, WhatIsNoStepIsNamedWithACure) {
  const std::string step = R"("observation": [1], "action": [1], "reward": 3)";
  EXPECT_THAT(LoadError("{" + step + R"(, "done": true})"),
              HasSubstr("line 1: 'done' says that an episode ended, but not whether"));
  EXPECT_THAT(LoadError(R"({"observation": [1], "action": [1], "reward": NaN})"),
              HasSubstr("NaN and Infinity are no JSON"));
  EXPECT_THAT(LoadError(R"({"type": "SampleBatch", "obs": "BCJNGGh"})"), HasSubstr("RLlib"));
  EXPECT_THAT(LoadError(R"({"_label_cost": -1, "_label_probability": 0.2, "a": [1]})"),
              HasSubstr("Vowpal Wabbit"));
  EXPECT_THAT(LoadError("[" + std::string("{") + step + "}]"), HasSubstr("starts with '['"));
  EXPECT_THAT(LoadError(R"({"episode": 0, "observation": [1], "reward": 3})"),
              HasSubstr("there is a reward but no action"));
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
