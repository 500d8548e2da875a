#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/logs/log_writers.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string Written(const EpisodeBatch& log, const LogInfo& info = {}) {
  const TestDir dir;
  const auto writer = CreateCsvLog(dir / "log.csv", info);
  writer->Append(log);
  writer->Finish();
  return ReadFile(dir / "log.csv");
}

TEST(CsvLogWriter, ALineAfterTheStepsHoldsTheLastObservation) {
  EXPECT_EQ(Written(SampleLog({2, 1})),
            "episode,t,obs_0,obs_1,action_0,reward,terminated,truncated\n"
            "0,0,0,0,0,0,0,0\n"
            "0,1,1,-1,0.1,1,0,1\n"
            "0,2,2,-2,,,,\n"
            "1,0,100,0,0,10,1,0\n"
            "1,1,101,-1,,,,\n");
}

TEST(CsvLogWriter, OptionalColumnsComeLastAndNumbersReadBackExactly) {
  EpisodeBatch log = SampleLog({1});
  log.rewards = {0.1 + 0.2};
  log.aux = MatrixF{{0.1f, 2.0f}};
  log.behavior_log_density = {-1.0 / 3.0};
  EXPECT_EQ(Written(log),
            "episode,t,obs_0,obs_1,action_0,reward,terminated,truncated,behavior_log_density,"
            "aux_0,aux_1\n"
            "0,0,0,0,0,0.30000000000000004,0,1,-0.3333333333333333,0.1,2\n"
            "0,1,1,-1,,,,,,,\n");
}

TEST(CsvLogWriter, DiscreteActionsAreOneColumnOfTheirNumbers) {
  EpisodeBatch log = SampleLog({2});
  log.actions = MatrixF{{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}};
  EXPECT_EQ(Written(log, {.discrete_actions = 3}),
            "episode,t,obs_0,obs_1,action,reward,terminated,truncated\n"
            "0,0,0,0,2,0,0,0\n"
            "0,1,1,-1,0,1,0,1\n"
            "0,2,2,-2,,,,\n");
  log.actions(0, 2) = 0.5f;
  EXPECT_THAT([&] { Written(log, {.discrete_actions = 3}); },
              ThrowsMessage<DataError>(HasSubstr("no one-hot row")));
}

TEST(CsvLogWriter, EpisodesAreCountedThroughBatchesAndTheHeaderIsWrittenOnce) {
  const TestDir dir;
  const auto writer = CreateCsvLog(dir / "log.csv", {});
  writer->Append(EpisodeBatch{});
  writer->Append(SampleLog({1}));
  writer->Append(SampleLog({1}));
  writer->Finish();
  EXPECT_EQ(ReadFile(dir / "log.csv"),
            "episode,t,obs_0,obs_1,action_0,reward,terminated,truncated\n"
            "0,0,0,0,0,0,0,1\n"
            "0,1,1,-1,,,,\n"
            "1,0,0,0,0,0,0,1\n"
            "1,1,1,-1,,,,\n");
}

}  // namespace
}  // namespace lfiw::core
