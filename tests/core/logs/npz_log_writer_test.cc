#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/logs/log_writers.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> NamesOf(const NpzFile& file) {
  std::vector<std::string> names;
  for (const auto& [name, array] : file.arrays()) names.push_back(name);
  return names;
}

TEST(NpzLogWriter, OffsetsCountOnThroughBatches) {
  const TestDir dir;
  const auto writer = CreateNpzLog(dir / "log.npz", {});
  writer->Append(SampleLog({3, 1}));
  writer->Append(EpisodeBatch{});
  writer->Append(SampleLog({2}));
  writer->Finish();
  const NpzFile file = NpzFile::Read(dir / "log.npz");
  EXPECT_THAT(file.GetIntegers("offsets"), ElementsAre(0, 3, 4, 6));
  EXPECT_THAT(file.GetIntegers("terminated"), ElementsAre(0, 1, 0));
  EXPECT_EQ(file.GetMatrix("observations").rows(), 9);
  EXPECT_THAT(file.GetDoubles("rewards"), ElementsAre(0, 1, 2, 10, 0, 1));
}

TEST(NpzLogWriter, WhatTheLogLacksIsNoArray) {
  const TestDir dir;
  const auto plain = CreateNpzLog(dir / "plain.npz", {});
  plain->Append(SampleLog({1}));
  plain->Finish();
  EXPECT_THAT(NamesOf(NpzFile::Read(dir / "plain.npz")),
              ElementsAre("actions", "observations", "offsets", "rewards", "terminated"));

  EpisodeBatch log = SampleLog({1});
  log.aux = MatrixF{{0.5f, 1.5f}};
  log.behavior_log_density = {-1.0};
  log.actions = MatrixF{{0.0f, 1.0f}};
  const auto full = CreateNpzLog(dir / "full.npz", {.environment = "E", .discrete_actions = 2});
  full->Append(log);
  full->Finish();
  const NpzFile file = NpzFile::Read(dir / "full.npz");
  EXPECT_EQ(file.GetMatrix("aux"), log.aux);
  EXPECT_THAT(file.GetDoubles("behavior_log_density"), ElementsAre(-1.0));
  EXPECT_THAT(file.GetIntegers("discrete_actions"), ElementsAre(2));
  EXPECT_EQ(file.GetText("environment"), "E");
}

TEST(NpzLogWriter, TheSameEpisodesGiveTheSameBytesInAnyBatches) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({3, 1, 2});
  const auto whole = CreateNpzLog(dir / "whole.npz", {});
  whole->Append(log);
  whole->Finish();
  const auto parts = CreateNpzLog(dir / "parts.npz", {});
  for (std::int64_t e = 0; e < 3; ++e) parts->Append(SelectEpisodes(log, std::vector{e}));
  parts->Finish();
  EXPECT_EQ(ReadFile(dir / "parts.npz"), ReadFile(dir / "whole.npz"));
}

TEST(NpzLogWriter, ADirectoryThatIsNotThereIsNamed) {
  const TestDir dir;
  EXPECT_THAT([&] { CreateNpzLog(dir / "none/log.npz", {}); },
              testing::ThrowsMessage<DataError>(HasSubstr(dir / "none/log.npz")));
}

}  // namespace
}  // namespace lfiw::core
