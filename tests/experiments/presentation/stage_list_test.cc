#include "experiments/presentation/stage_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

StageState State(const std::string& name, const std::string& key, StageState::Kind kind) {
  StageState state;
  state.name = name;
  state.key = key;
  state.kind = kind;
  return state;
}

std::vector<StageState> Found() {
  StageState done = State("policy", "0123456789abcdef", StageState::Kind::kDone);
  done.cost = StageCost{.seconds = 3.0, .cpu_seconds = 2.5, .host = "node1"};
  StageState running = State("log", "fedcba9876543210", StageState::Kind::kRunning);
  running.host = "node2";
  running.process = 17;
  return {done, running};
}

TEST(StageList, AddsWhatIsExpectedBeyondWhatWasFound) {
  const std::vector<ExpectedStage> expected = {{"policy", 1}, {"log", 2}, {"truth", 1}};
  const std::vector<StageState> all = WithExpected(Found(), expected);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[2].name, "log");
  EXPECT_EQ(all[3].name, "truth");
  for (std::size_t i = 2; i < 4; ++i) {
    EXPECT_EQ(all[i].key, "");
    EXPECT_EQ(all[i].kind, StageState::Kind::kToDo);
  }
}

TEST(StageList, SaysWhereAStageRunsAndWhatItCost) {
  const std::string text =
      StageListText(WithExpected(Found(), std::vector<ExpectedStage>{{"truth", 1}}));
  EXPECT_THAT(text, HasSubstr("0123456789ab"));
  EXPECT_THAT(text, HasSubstr("node2 17"));
  EXPECT_THAT(text, HasSubstr("2.5"));
  EXPECT_THAT(text, HasSubstr("1 done, 1 running, 1 to do\n"));
}

TEST(StageList, TheObjectHasNullWhereNothingIsKnown) {
  const auto json = StageListJson(WithExpected(Found(), std::vector<ExpectedStage>{{"truth", 1}}));
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["cpu_seconds"], 2.5);
  EXPECT_EQ(json[0]["host"], "node1");
  EXPECT_EQ(json[1]["process"], 17);
  EXPECT_EQ(json[1]["state"], "running");
  EXPECT_TRUE(json[2]["key"].is_null());
  EXPECT_TRUE(json[2]["host"].is_null());
}

}  // namespace
}  // namespace lfiw::experiments
