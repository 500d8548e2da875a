#include "core/logs/create_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "core/logs/log_writer.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

EpisodeBatch FullLog() {
  EpisodeBatch log = SampleLog({3, 1, 2});
  log.aux = MatrixF(6, 1);
  for (std::int64_t i = 0; i < 6; ++i) {
    log.aux(i, 0) = 0.1f * static_cast<float>(i);
    log.behavior_log_density.push_back(-0.1 * static_cast<double>(i));
  }
  return log;
}

EpisodeBatch DiscreteLog() {
  EpisodeBatch log = SampleLog({3, 1, 2});
  log.actions.setZero(6, 3);
  for (Eigen::Index i = 0; i < 6; ++i) log.actions(i, i % 2) = 1.0f;
  return log;
}

void WriteInParts(const EpisodeBatch& log, const std::string& path, LogFormat format,
                  const LogInfo& info) {
  const auto writer = CreateLog(path, format, info);
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t episode[] = {e};
    writer->Append(SelectEpisodes(log, episode));
  }
  writer->Finish();
}

class CreateLogTest : public testing::TestWithParam<LogFormat> {};

TEST_P(CreateLogTest, WhatWasWrittenInPartsIsReadBack) {
  const TestDir dir;
  WriteInParts(FullLog(), dir / "log", GetParam(), {.environment = "Swimmer"});
  const LoadedLog loaded = LoadLog(dir / "log");
  ExpectSameLog(loaded.batch, FullLog());
  if (GetParam() != LogFormat::kCsv) {
    EXPECT_EQ(loaded.info.environment, "Swimmer");
  }
  // nothing else is left behind
  EXPECT_EQ(dir.Count(), 1);
}

TEST_P(CreateLogTest, EndsThatAreNotRecordedStayThat) {
  const TestDir dir;
  EpisodeBatch log = SampleLog({3, 1, 2, 4});
  log.end_unrecorded = {0, 1, 0, 1};
  for (const std::int64_t e : {1, 3}) {
    const std::int64_t last = log.ObservationRow(e, log.Length(e));
    log.observations.row(last) = log.observations.row(last - 1);
  }
  WriteInParts(log, dir / "log", GetParam(), {});
  const LoadedLog loaded = LoadLog(dir / "log");
  ExpectSameLog(loaded.batch, log);
}

TEST_P(CreateLogTest, DiscreteActionsStayDiscrete) {
  const TestDir dir;
  EpisodeBatch log = DiscreteLog();
  // a log in CSV does not know of actions that were never taken
  if (GetParam() == LogFormat::kCsv) log.actions(5, 1) = 0.0f, log.actions(5, 2) = 1.0f;
  WriteInParts(log, dir / "log", GetParam(), {.discrete_actions = 3});
  const LoadedLog loaded = LoadLog(dir / "log");
  ExpectSameLog(loaded.batch, log);
  EXPECT_EQ(loaded.info.discrete_actions, 3);
}

TEST_P(CreateLogTest, WithoutFinishNothingIsLeft) {
  const TestDir dir;
  CreateLog(dir / "log", GetParam(), {})->Append(FullLog());
  EXPECT_EQ(dir.Count(), 0);
}

TEST_P(CreateLogTest, AnUnwritablePathIsADataError) {
  const TestDir dir;
  WriteFileAtomically(dir / "file", "x");
  EXPECT_THROW(CreateLog(dir / "file/log", GetParam(), {}), DataError);
}

// Every size at which the disk may be full, in a process of its own as the limit stays.
TEST_P(CreateLogTest, AFullDiskIsADataErrorThatLeavesNothing) {
  const TestDir dir;
  for (rlim_t limit = 1; limit < 60'000; limit += 1 + limit / 3) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit full{limit, limit};
      setrlimit(RLIMIT_FSIZE, &full);
      int status = 0;
      try {
        WriteInParts(SampleLog({500, 300}), dir / "log", GetParam(), {});
      } catch (const DataError&) {
        status = 2;
      }
      exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "limit " << limit;
    if (WEXITSTATUS(status) == 0) break;
    ASSERT_EQ(WEXITSTATUS(status), 2) << "limit " << limit;
    ASSERT_EQ(dir.Count(), 0) << "limit " << limit;
  }
}

TEST_P(CreateLogTest, NotANumberSurvivesForInspection) {
  const TestDir dir;
  EpisodeBatch log = SampleLog({2});
  log.observations(1, 0) = std::nanf("");
  WriteInParts(log, dir / "log", GetParam(), {});
  const EpisodeBatch read = OpenLog(dir / "log")->Next(100);
  EXPECT_TRUE(std::isnan(read.observations(1, 0)));
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(HasSubstr("episode 0, step 1: observation[0]")));
}

INSTANTIATE_TEST_SUITE_P(Formats, CreateLogTest,
                         testing::Values(LogFormat::kNpz, LogFormat::kD4rl, LogFormat::kMinari,
                                         LogFormat::kCsv),
                         [](const auto& test) {
                           return std::string(
                               EnumNames(LogFormat{})[static_cast<std::size_t>(test.param)]);
                         });

TEST(CreateLog, SaveLogAndTheStreamingWriterAgree) {
  const TestDir dir;
  SaveLog(FullLog(), dir / "a");
  WriteInParts(FullLog(), dir / "b", LogFormat::kNpz, {});
  const NpzFile a = NpzFile::Read(dir / "a");
  const NpzFile b = NpzFile::Read(dir / "b");
  ASSERT_EQ(a.arrays().size(), b.arrays().size());
  for (const auto& [name, array] : a.arrays()) {
    EXPECT_EQ(array.type, b.arrays().at(name).type) << name;
    EXPECT_EQ(array.shape, b.arrays().at(name).shape) << name;
    EXPECT_EQ(array.bytes, b.arrays().at(name).bytes) << name;
  }
}

TEST(CreateLog, MinariMetadataCountsEpisodesAndSteps) {
  const TestDir dir;
  WriteInParts(FullLog(), dir / "log", LogFormat::kMinari, {});
  const auto metadata = nlohmann::json::parse(std::ifstream(dir / "log/data/metadata.json"));
  EXPECT_EQ(metadata["total_episodes"], 3);
  EXPECT_EQ(metadata["total_steps"], 6);
  EXPECT_EQ(metadata["data_format"], "hdf5");
  EXPECT_THAT([&] { CreateLog(dir / "log", LogFormat::kMinari, {}); },
              ThrowsMessage<DataError>(HasSubstr("it exists")));
}

TEST(ChooseLogFormat, TheFormatFollowsTheEndingUnlessNamed) {
  EXPECT_EQ(ChooseLogFormat("", "a.npz"), LogFormat::kNpz);
  EXPECT_EQ(ChooseLogFormat("", "a.h5"), LogFormat::kD4rl);
  EXPECT_EQ(ChooseLogFormat("", "a.csv"), LogFormat::kCsv);
  EXPECT_EQ(ChooseLogFormat("", "dir/a-v0"), LogFormat::kMinari);
  EXPECT_EQ(ChooseLogFormat("csv", "a.npz"), LogFormat::kCsv);
  EXPECT_THAT([] { ChooseLogFormat("", "a.xyz"); },
              ThrowsMessage<ConfigError>(HasSubstr("npz, d4rl, minari, csv")));
  EXPECT_THAT([] { ChooseLogFormat("parquet", "a"); },
              ThrowsMessage<ConfigError>(HasSubstr("npz, d4rl, minari, csv")));
}

}  // namespace
}  // namespace lfiw::core
