#include "core/logs/padded_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/logs/array_blocks.h"
#include "core/logs/open_log.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/logs/memory_store.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Two episodes of up to three steps.
NpzFile TwoEpisodes() {
  NpzFile file;
  file.Put("s", MakeNpzArray<float>("f4", {2, 3, 1}, {1, 2, 3, 4, 5, 6}));
  file.Put("a", MakeNpzArray<float>("f4", {2, 3, 1}, {0, 0, 0, 0, 0, 0}));
  file.Put("r", MakeNpzArray<double>("f8", {2, 3}, {1, 2, 3, 4, 5, 6}));
  return file;
}

LogKeys Keys() { return {.observation = "s", .action = "a", .reward = "r"}; }

std::unique_ptr<LogReader> Open(const NpzFile& file, const LogKeys& keys) {
  return OpenPaddedLog(std::make_unique<MemoryStore>(file), keys);
}

TEST(PaddedLog, LengthsCutThePaddingAndFlagsEndEpisodes) {
  const TestDir dir;
  NpzFile file;
  file.Put("s", MakeNpzArray<float>("f4", {2, 3, 1}, {1, 2, 3, 4, 5, 6}));
  file.Put("a", MakeNpzArray<float>("f4", {2, 3, 1}, {0, 0, 0, 0, 0, 0}));
  file.Put("r", MakeNpzArray<double>("f8", {2, 3}, {1, 2, 3, 4, 5, 6}));
  file.Put("n", std::vector<std::int64_t>{3, 2});
  file.Put("d", MakeNpzArray<std::uint8_t>("u1", {2, 3}, {0, 1, 0, 0, 0, 1}));
  file.Write(dir / "log");
  const std::string map = "obs=s,action=a,reward=r,lengths=n";
  const LoadedLog loaded = LoadLog(dir / "log", {.map = map});
  EXPECT_THAT(loaded.batch.rewards, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 3, 5));
  const LoadedLog flagged = LoadLog(dir / "log", {.map = map + ",terminal=d"});
  EXPECT_THAT(flagged.batch.rewards, ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(flagged.batch.terminated, ElementsAre(1, 0));
}

TEST(PaddedLog, OneObservationMoreThanStepsKeepsTheLastStep) {
  const TestDir dir;
  NpzFile file;
  file.Put("s", MakeNpzArray<float>("f4", {1, 3, 1}, {1, 2, 3}));
  file.Put("a", MakeNpzArray<std::int64_t>("i8", {1, 2}, {1, 0}));
  file.Put("r", MakeNpzArray<double>("f8", {1, 2}, {1, 2}));
  file.Put("d", MakeNpzArray<std::uint8_t>("u1", {1}, {1}));
  file.Write(dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log", {.map = "obs=s,action=a,reward=r,terminal=d"});
  EXPECT_THAT(loaded.batch.rewards, ElementsAre(1, 2));
  EXPECT_THAT(loaded.batch.terminated, ElementsAre(1));
  EXPECT_EQ(loaded.batch.actions, (MatrixF{{0.0f, 1.0f}, {1.0f, 0.0f}}));
}

TEST(PaddedLog, WithoutLengthsAndFlagsEpisodesFillTheArraysAndANoteSaysSo) {
  const auto reader = Open(TwoEpisodes(), Keys());
  const EpisodeBatch log = reader->Next(100);
  EXPECT_THAT(log.rewards, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(log.end_unrecorded, ElementsAre(1, 1));
  EXPECT_EQ(reader->counts().unrecorded_cuts, 2);
  EXPECT_THAT(reader->info().notes, Contains(kNoTerminals));
}

TEST(PaddedLog, ATimeoutBeforeTheTerminalFlagTruncates) {
  NpzFile file = TwoEpisodes();
  file.Put("s", MakeNpzArray<float>("f4", {2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}));
  file.Put("end", MakeNpzArray<std::uint8_t>("u1", {2, 3}, {0, 1, 0, 0, 1, 0}));
  file.Put("cut", MakeNpzArray<std::uint8_t>("u1", {2, 3}, {1, 0, 0, 0, 0, 1}));
  LogKeys keys = Keys();
  keys.terminal = "end";
  keys.timeout = "cut";
  const EpisodeBatch log = Open(file, keys)->Next(100);
  EXPECT_THAT(log.offsets, ElementsAre(0, 1, 3));
  EXPECT_THAT(log.terminated, ElementsAre(0, 1));
}

TEST(PaddedLog, BatchesHoldAtLeastOneEpisode) {
  const auto reader = Open(TwoEpisodes(), Keys());
  EXPECT_EQ(reader->Next(1).episodes(), 1);
  EXPECT_EQ(reader->Next(1).episodes(), 1);
  EXPECT_EQ(reader->Next(1).episodes(), 0);
}

TEST(PaddedLog, ArraysThatDoNotGoTogetherAreNamed) {
  const auto refused = [](const NpzFile& file, const LogKeys& keys, const std::string& why) {
    EXPECT_THAT([&] { Open(file, keys); }, ThrowsMessage<DataError>(HasSubstr(why)));
  };
  NpzFile file = TwoEpisodes();
  file.Put("a", MakeNpzArray<float>("f4", {2, 2, 1}, {0, 0, 0, 0}));
  refused(file, Keys(), "has 2 steps an episode, r has 3");
  file.Put("a", MakeNpzArray<float>("f4", {1, 3, 1}, {0, 0, 0}));
  refused(file, Keys(), "has shape [1, 3, 1], expected [2 episodes, 3 steps, ...]");

  file = TwoEpisodes();
  LogKeys keys = Keys();
  keys.lengths = "n";
  file.Put("n", std::vector<std::int64_t>{3});
  refused(file, keys, "has 1 values, expected 2");
  file.Put("n", std::vector<std::int64_t>{3, 4});
  refused(file, keys, "holds 4, expected 0 to 3");

  keys = Keys();
  keys.density = "s2";
  file.Put("s2", MakeNpzArray<float>("f4", {2, 3, 2}, std::vector<float>(12)));
  refused(file, keys, "has 2 numbers a step, expected 1");
}

// Two episodes of three and two steps under names that tools give them.
NpzFile NamedEpisodes(const std::string& lengths) {
  NpzFile file;
  file.Put("observations", MakeNpzArray<float>("f4", {2, 3, 1}, {1, 2, 3, 4, 5, 0}));
  file.Put("actions", MakeNpzArray<float>("f4", {2, 3, 1}, {1, 2, 1, 2, 1, 0}));
  file.Put("rewards", MakeNpzArray<double>("f8", {2, 3}, {1, 2, 3, 4, 5, 0}));
  file.Put(lengths, std::vector<std::int64_t>{3, 2});
  return file;
}

TEST(PaddedLog, LengthsUnderTheNamesOfSeveralToolsAreRead) {
  const TestDir dir;
  for (const std::string name : {"lengths", "episode_lengths", "ep_len", "traj_lengths"}) {
    NpzFile file = NamedEpisodes(name);
    file.Write(dir / "log");
    EXPECT_THAT(LoadLog(dir / "log").batch.rewards, ElementsAre(1, 2, 3, 4, 5)) << name;
    file.Put("terminals", MakeNpzArray<std::uint8_t>("u1", {2, 3}, {0, 0, 0, 0, 1, 0}));
    file.Write(dir / "log");
    const LoadedLog flagged = LoadLog(dir / "log");
    EXPECT_THAT(flagged.batch.offsets, ElementsAre(0, 3, 5)) << name;
    EXPECT_THAT(flagged.batch.terminated, ElementsAre(0, 1)) << name;
  }
}

TEST(PaddedLog, LengthsOfTheOtherAxisAreRefusedWithTheCure) {
  const TestDir dir;
  NpzFile file = NamedEpisodes("lengths");
  file.Put("lengths", std::vector<std::int64_t>{2, 2, 1});
  file.Write(dir / "log");
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("array 'lengths'"), HasSubstr("3 values"),
                                             HasSubstr("numpy.swapaxes(a, 0, 1)"))));
}

}  // namespace
}  // namespace lfiw::core
