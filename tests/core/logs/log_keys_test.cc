#include "core/logs/log_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/core/logs/memory_store.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

MemoryStore StoreOf(const std::vector<std::string>& names) {
  NpzFile file;
  for (const std::string& name : names) file.Put(name, std::vector<double>{1.0});
  return MemoryStore(std::move(file));
}

TEST(ParseLogMap, NamesMayComeInAnyOrder) {
  const LogKeys keys = ParseLogMap("reward=r,obs=a/b,action=u,terminal=done");
  EXPECT_EQ(keys.observation, "a/b");
  EXPECT_EQ(keys.action, "u");
  EXPECT_EQ(keys.reward, "r");
  EXPECT_EQ(keys.terminal, "done");
  EXPECT_EQ(keys.timeout, "");
}

TEST(ParseLogMap, AnUnknownNameListsAllAndARequiredOneIsMissed) {
  EXPECT_THAT([] { ParseLogMap("state=s"); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("'state=s'"), HasSubstr("obs, action"))));
  EXPECT_THAT([] { ParseLogMap("obs"); }, ThrowsMessage<ConfigError>(HasSubstr("NAME=KEY")));
  EXPECT_THAT([] { ParseLogMap("obs=s,action=u"); },
              ThrowsMessage<ConfigError>(HasSubstr("lacks reward=KEY")));
}

TEST(RecognizeLogKeys, OptionalArraysAreTakenWhenTheyAreThere) {
  const std::vector<std::string> required = {"observations", "actions", "rewards"};
  std::vector<std::string> names = required;
  EXPECT_EQ(RecognizeLogKeys(StoreOf(names)).format, "D4RL memory");
  EXPECT_EQ(RecognizeLogKeys(StoreOf(names)).timeout, "");
  names.emplace_back("timeouts");
  EXPECT_EQ(RecognizeLogKeys(StoreOf(names)).timeout, "timeouts");
  // offsets make it a log of this project
  names.emplace_back("offsets");
  EXPECT_EQ(RecognizeLogKeys(StoreOf(names)).format, "npz");
}

TEST(RecognizeLogKeys, ImitationAndPaddedLayoutsAreKnown) {
  EXPECT_EQ(RecognizeLogKeys(StoreOf({"obs", "acts", "rews", "indices"})).format,
            "imitation memory");
  EXPECT_EQ(RecognizeLogKeys(StoreOf({"obs_B_T_Do", "a_B_T_Da", "r_B_T", "len_B"})).lengths,
            "len_B");
}

TEST(RecognizeLogKeys, AnyOtherFileListsItsArraysAndPointsToTheMap) {
  EXPECT_THAT(
      [] {
        RecognizeLogKeys(StoreOf({"states", "controls"}));
      },
      ThrowsMessage<DataError>(
          AllOf(HasSubstr("memory.log"), HasSubstr("controls, states"), HasSubstr("--map"))));
}

TEST(RecognizeLogKeys, FlagsHaveTheNamesOfSeveralTools) {
  const std::vector<std::string> required = {"observations", "actions", "rewards"};
  const auto keys_with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> names = required;
    names.insert(names.end(), more.begin(), more.end());
    return RecognizeLogKeys(StoreOf(names));
  };
  for (const char* name : {"terminated", "terminations", "terminals"}) {
    EXPECT_EQ(keys_with({name}).terminal, name);
  }
  for (const char* name : {"truncated", "truncations", "timeouts"}) {
    EXPECT_EQ(keys_with({name}).timeout, name);
  }
  EXPECT_EQ(keys_with({"terminals", "episode_terminals"}).end, "episode_terminals");
  EXPECT_EQ(keys_with({"dones", "timeouts"}).end, "dones");
  EXPECT_EQ(keys_with({"masks", "dones_float"}).mask, "masks");
  EXPECT_EQ(keys_with({"episode_ids"}).episode_id, "episode_ids");
  EXPECT_EQ(RecognizeLogKeys(StoreOf({"obs", "act", "rew", "obs_next"})).next_observation,
            "obs_next");
}

TEST(RecognizeLogKeys, FlagsThatDoNotSayWhyAnEpisodeEndedAreRefusedWithBothMaps) {
  for (const char* name : {"dones", "done"}) {
    EXPECT_THAT(
        [&] {
          RecognizeLogKeys(StoreOf({"observations", "actions", "rewards", name}));
        },
        ThrowsMessage<DataError>(AllOf(HasSubstr(std::string("terminal=") + name + " or"),
                                       HasSubstr(std::string("timeout=") + name))));
  }
  EXPECT_THAT(
      [] {
        RecognizeLogKeys(StoreOf({"observations", "actions", "rewards", "masks"}));
      },
      ThrowsMessage<DataError>(HasSubstr("terminals or timeouts (1 - masks)")));
}

TEST(RecognizeLogKeys, OneArrayAnEpisodeIsNamedWithACure) {
  EXPECT_THAT(
      [] {
        RecognizeLogKeys(StoreOf({"observations_0", "actions_0", "rewards_0"}));
      },
      ThrowsMessage<DataError>(AllOf(HasSubstr("d3rlpy 2"), HasSubstr("concatenate"))));
}

TEST(UnusedStepArrays, AreThoseOfOneValueAStep) {
  NpzFile file;
  for (const char* name : {"observations", "actions", "rewards", "weather", "costs"}) {
    file.Put(name, std::vector<double>{1.0, 2.0});
  }
  file.Put("size", std::vector<double>{2.0});
  const MemoryStore store(std::move(file));
  EXPECT_THAT(UnusedStepArrays(store, RecognizeLogKeys(store)),
              testing::ElementsAre("costs", "weather"));
}

}  // namespace
}  // namespace lfiw::core
