#include "core/logs/env_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/error.h"
#include "core/logs/open_log.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/logs/memory_store.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Two environments of six steps: episodes of 4 and 2 steps in one, of 3 and 3 in the other.
// Observations are 100 env + 10 episode + t, rewards the same.
struct Buffer {
  std::vector<float> observations, next, actions;
  std::vector<double> rewards;
  std::vector<std::uint8_t> terminals, timeouts;
};

Buffer MakeBuffer(bool time_first) {
  Buffer out;
  const std::int64_t first = time_first ? 6 : 2, second = time_first ? 2 : 6;
  for (std::int64_t i = 0; i < first; ++i) {
    for (std::int64_t j = 0; j < second; ++j) {
      const std::int64_t row = time_first ? i : j, env = time_first ? j : i;
      const std::int64_t length = env == 0 ? 4 : 3, episode = row < length ? 0 : 1;
      const std::int64_t t = row - episode * length;
      const auto value = static_cast<float>(100 * env + 10 * episode + t);
      const bool last = row == length - 1 || row == 5;
      out.observations.push_back(value);
      out.next.push_back(value + 1.0f);
      out.actions.push_back(value / 2.0f);
      out.rewards.push_back(value);
      out.terminals.push_back(last && episode == 0 ? 1 : 0);
      out.timeouts.push_back(last && episode == 1 ? 1 : 0);
    }
  }
  return out;
}

NpzFile FileOf(const Buffer& buffer, std::int64_t a, std::int64_t b) {
  NpzFile file;
  file.Put("observations", MakeNpzArray("f4", {a, b, 1}, buffer.observations));
  file.Put("next_observations", MakeNpzArray("f4", {a, b, 1}, buffer.next));
  file.Put("actions", MakeNpzArray("f4", {a, b, 1}, buffer.actions));
  file.Put("rewards", MakeNpzArray("f8", {a, b}, buffer.rewards));
  file.Put("terminals", MakeNpzArray("u1", {a, b}, buffer.terminals));
  file.Put("timeouts", MakeNpzArray("u1", {a, b}, buffer.timeouts));
  return file;
}

void ExpectFourEpisodes(const LoadedLog& log) {
  EXPECT_THAT(log.batch.offsets, ElementsAre(0, 4, 6, 9, 12));
  EXPECT_THAT(log.batch.terminated, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(log.batch.rewards, ElementsAre(0, 1, 2, 3, 10, 11, 100, 101, 102, 110, 111, 112));
  EXPECT_EQ(log.batch.observations.col(0).transpose(),
            (MatrixF{{0, 1, 2, 3, 4, 10, 11, 12, 100, 101, 102, 103, 110, 111, 112, 113}}));
  EXPECT_EQ(log.counts.continuity_broken, 0);
}

TEST(EnvAxis, NextObservationsTellThatTimeIsTheFirstAxis) {
  const TestDir dir;
  FileOf(MakeBuffer(true), 6, 2).Write(dir / "log");
  const LoadedLog log = LoadLog(dir / "log");
  ExpectFourEpisodes(log);
  EXPECT_THAT(log.info.notes, Contains(HasSubstr("2 environments of 6 steps each")));
}

TEST(EnvAxis, NextObservationsTellThatTimeIsTheSecondAxis) {
  const TestDir dir;
  FileOf(MakeBuffer(false), 2, 6).Write(dir / "log");
  ExpectFourEpisodes(LoadLog(dir / "log"));
}

TEST(EnvAxis, AMapIsReadTheSameWay) {
  const TestDir dir;
  FileOf(MakeBuffer(true), 6, 2).Write(dir / "log");
  ExpectFourEpisodes(
      LoadLog(dir / "log", {.map = "obs=observations,action=actions,reward=rewards,next_obs="
                                   "next_observations,terminal=terminals,timeout=timeouts"}));
}

TEST(EnvAxis, StepsThatWereNeverWrittenAreLeftOut) {
  const TestDir dir;
  Buffer buffer = MakeBuffer(true);
  for (std::vector<float>* values : {&buffer.observations, &buffer.next, &buffer.actions}) {
    values->resize(20, 0.0f);
  }
  buffer.rewards.resize(20, 0.0);
  buffer.terminals.resize(20, 0);
  buffer.timeouts.resize(20, 0);
  FileOf(buffer, 10, 2).Write(dir / "log");
  const LoadedLog log = LoadLog(dir / "log");
  ExpectFourEpisodes(log);
  EXPECT_THAT(log.info.notes, Contains(HasSubstr("4 further steps of each hold only zeros")));
}

TEST(EnvAxis, EpisodesPaddedWithZerosKeepTheirLastObservation) {
  const TestDir dir;
  Buffer buffer = MakeBuffer(false);
  for (const std::size_t env : {0, 1}) {
    for (std::size_t t = env == 0 ? 4 : 3; t < 6; ++t) {
      const std::size_t i = 6 * env + t;
      buffer.observations[i] = buffer.next[i] = buffer.actions[i] = 0.0f;
      buffer.rewards[i] = 0.0;
      buffer.timeouts[i] = 0;
    }
  }
  FileOf(buffer, 2, 6).Write(dir / "log");
  const LoadedLog log = LoadLog(dir / "log");
  EXPECT_THAT(log.batch.offsets, ElementsAre(0, 4, 7));
  EXPECT_THAT(log.batch.terminated, ElementsAre(1, 1));
  EXPECT_EQ(log.batch.observations.col(0).transpose(),
            (MatrixF{{0, 1, 2, 3, 4, 100, 101, 102, 103}}));
}

TEST(EnvAxis, WhereNothingTellsTheFileIsRefusedWithACure) {
  const TestDir dir;
  const auto refuse = [&](const NpzFile& file, const char* why) {
    file.Write(dir / "log");
    EXPECT_THAT([&] { LoadLog(dir / "log"); }, ThrowsMessage<DataError>(HasSubstr(why)));
  };
  Buffer buffer = MakeBuffer(true);
  NpzFile file;
  const NpzFile whole = FileOf(buffer, 6, 2);
  for (const auto& [name, array] : whole.arrays()) {
    if (name != "next_observations") file.Put(name, array);
  }
  refuse(file, "has shape [6, 2], and nothing tells whether time runs along the first axis");
  refuse(file, "there are no next observations; save flat arrays");
  std::fill(buffer.next.begin(), buffer.next.end(), -1.0f);
  refuse(FileOf(buffer, 6, 2), "continue along neither");
}

}  // namespace
}  // namespace lfiw::core
