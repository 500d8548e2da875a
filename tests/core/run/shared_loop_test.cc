#include "core/run/shared_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/file_lock.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using std::chrono::milliseconds;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

StageId StageOf(std::int64_t item) {
  StageId stage;
  stage.name = "item";
  stage.key = std::to_string(item);
  return stage;
}

// The lock file of a stage in a cache.
std::string LockOf(const TestDir& cache, const StageId& stage) {
  return cache / ("item/" + stage.Hash().substr(0, 20) + ".lock");
}

StageCache::Writer WriterOf(std::int64_t item) {
  return [item](const std::string& directory) {
    WriteFileAtomically(directory + "/out.txt", std::to_string(item));
  };
}

// Runs body() in a child process, which ends with status 0 unless body() throws.
pid_t Fork(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    body();
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

int WaitFor(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void WaitUntil(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(milliseconds(2));
}

TEST(SharedLoop, RunsEveryItemOnce) {
  const TestDir dir;
  StageCache cache(dir.path());
  std::vector<std::atomic<int>> calls(20);
  ShareTasks(cache, 20, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  std::vector<std::int64_t> order;
  ShareInTurn(cache, 3, [&](std::int64_t i) { order.push_back(i); });
  ShareInTurn(2, [&](std::int64_t i) { order.push_back(i); });
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 0, 1));
  ShareTasks(cache, 0, [](std::int64_t) { FAIL(); });
}

TEST(SharedLoop, ThrowsWhatAnItemThrows) {
  const TestDir dir;
  StageCache cache(dir.path());
  const auto fail = [](std::int64_t i) { Throw<DataError>("item {}", i); };
  EXPECT_THROW(ShareTasks(cache, 3, fail), DataError);
  EXPECT_THROW(ShareInTurn(cache, 3, fail), DataError);
}

TEST(SharedLoop, ComesBackToAnItemThatSomebodyElseMakes) {
  const TestDir dir;
  StageCache cache(dir.path());
  std::filesystem::create_directories(dir / "item");
  auto held = std::make_unique<FileLock>(LockOf(dir, StageOf(0)));
  std::vector<std::int64_t> order;
  std::thread other;
  ShareInTurn(cache, 3, [&](std::int64_t i) {
    cache.RunStage(StageOf(i), WriterOf(i));
    order.push_back(i);
    if (i == 2) {
      other = std::thread([&] {
        std::this_thread::sleep_for(milliseconds(60));
        held.reset();
      });
    }
  });
  other.join();
  EXPECT_THAT(order, ElementsAre(1, 2, 0));
  std::vector<std::string> keys;
  for (const StageRecord& record : cache.records()) keys.push_back(record.key);
  EXPECT_THAT(keys, ElementsAre(StageOf(1).Hash(), StageOf(2).Hash(), StageOf(0).Hash()));
}

TEST(SharedLoop, AnInnerLoopThatCouldOnlyWaitLeavesItsItemForLater) {
  const TestDir dir;
  StageCache cache(dir.path());
  std::filesystem::create_directories(dir / "item");
  auto held = std::make_unique<FileLock>(LockOf(dir, StageOf(1)));
  std::vector<std::int64_t> made;
  // stages 0, 1 belong to the first outer item and 2, 3 to the second
  ShareInTurn(cache, 2, [&](std::int64_t outer) {
    ShareInTurn(cache, 2, [&](std::int64_t inner) {
      const std::int64_t item = 2 * outer + inner;
      const Artifact artifact = cache.RunStage(StageOf(item), [&](const std::string& directory) {
        made.push_back(item);
        WriterOf(item)(directory);
      });
      EXPECT_EQ(ReadFile(artifact.File("out.txt")), std::to_string(item));
    });
    if (outer == 1) held.reset();
  });
  EXPECT_THAT(made, ElementsAre(0, 2, 3, 1));
  // one record for each stage, which says that this process made it, though stage 0 was asked twice
  std::vector<StageOutcome> outcomes;
  for (const StageRecord& record : cache.records()) outcomes.push_back(record.outcome);
  EXPECT_EQ(outcomes.size(), 4u);
  EXPECT_THAT(outcomes, Each(StageOutcome::kComputed));
}

TEST(SharedLoop, WhatIsPreparedOrRehearsedHasOneRecord) {
  const TestDir dir;
  StageCache cache(dir.path());
  ShareInTurn(cache, 2, [&](std::int64_t i) { cache.PrepareStage(StageOf(i), WriterOf(i)); });
  {
    const Rehearsal rehearsal(cache);
    cache.RunStage(StageOf(2), WriterOf(2));
  }
  EXPECT_THAT(cache.records(), IsEmpty());
  for (std::int64_t i = 0; i < 3; ++i) cache.RunStage(StageOf(i), WriterOf(i));
  cache.RunStage(StageOf(0), WriterOf(0));
  std::vector<StageOutcome> outcomes;
  for (const StageRecord& record : cache.records()) outcomes.push_back(record.outcome);
  EXPECT_THAT(outcomes, ElementsAre(StageOutcome::kComputed, StageOutcome::kComputed,
                                    StageOutcome::kComputed, StageOutcome::kReused));
}

TEST(SharedLoop, ProcessesTakeDifferentItems) {
  const TestDir dir;
  constexpr std::int64_t kItems = 12;
  const auto work = [&](const std::string& name) {
    StageCache cache(dir / "cache");
    std::string contents;
    ShareInTurn(cache, kItems, [&](std::int64_t i) {
      cache.RunStage(StageOf(i), [&](const std::string& directory) {
        WriteFileAtomically(dir / (name + "." + std::to_string(i)), "made");
        std::this_thread::sleep_for(milliseconds(40));
        WriterOf(i)(directory);
      });
    });
    for (std::int64_t i = 0; i < kItems; ++i) {
      contents += cache.RunStage(StageOf(i), WriterOf(i)).content_hash;
    }
    WriteFileAtomically(dir / (name + ".contents"), contents);
  };
  std::vector<pid_t> children;
  for (const char* name : {"a", "b", "c"}) {
    children.push_back(Fork([&] { work(name); }));
  }
  for (const pid_t child : children) EXPECT_EQ(WaitFor(child), 0);
  // every item is made once, and every process has made some
  std::vector<int> made(kItems, 0), shares;
  for (const std::string name : {"a", "b", "c"}) {
    shares.push_back(0);
    for (std::int64_t i = 0; i < kItems; ++i) {
      if (!std::filesystem::exists(dir / (name + "." + std::to_string(i)))) continue;
      ++made[static_cast<std::size_t>(i)];
      ++shares.back();
    }
    EXPECT_EQ(ReadFile(dir / (name + ".contents")), ReadFile(dir / "a.contents"));
  }
  EXPECT_THAT(made, Each(1));
  EXPECT_THAT(shares, Each(testing::Ge(1)));
}

TEST(SharedLoop, AProcessThatDiesLeavesItsItemToTheOthers) {
  const TestDir dir;
  const auto write = [&](std::int64_t i, const std::string& directory) {
    const std::string checkpoint = directory + "/" + kCheckpointFolder + "/state";
    if (i == 0 && !std::filesystem::exists(checkpoint)) {
      WriteFileAtomically(checkpoint, "half");
      WriteFileAtomically(dir / "started", "");
      for (;;) ::pause();
    }
    WriteFileAtomically(directory + "/out.txt", i == 0 ? ReadFile(checkpoint) + "+half" : "whole");
  };
  const auto run = [&](StageCache& cache) {
    ShareInTurn(cache, 3, [&](std::int64_t i) {
      cache.RunStage(StageOf(i), [&](const std::string& directory) { write(i, directory); });
    });
  };
  const pid_t child = Fork([&] {
    StageCache cache(dir / "cache");
    run(cache);
  });
  WaitUntil([&] { return std::filesystem::exists(dir / "started"); });
  std::thread killer([&] {
    // the other items are done by then
    WaitUntil([&] {
      StageCache cache(dir / "cache");
      return cache.HasStage(StageOf(1)) && cache.HasStage(StageOf(2));
    });
    ::kill(child, SIGKILL);
  });
  StageCache cache(dir / "cache");
  run(cache);
  killer.join();
  EXPECT_EQ(WaitFor(child), 128 + SIGKILL);
  const Artifact resumed = cache.RunStage(StageOf(0), WriterOf(0));
  EXPECT_EQ(ReadFile(resumed.File("out.txt")), "half+half");
}

TEST(SharedLoop, AListNamesWhatIsDoneRunningAndToDo) {
  const TestDir dir;
  StageCache maker(dir / "cache");
  maker.RunStage(StageOf(0), WriterOf(0));
  const pid_t child = Fork([&] {
    StageCache cache(dir / "cache");
    cache.RunStage(StageOf(1), [&](const std::string&) {
      WriteFileAtomically(dir / "started", "");
      for (;;) ::pause();
    });
  });
  WaitUntil([&] { return std::filesystem::exists(dir / "started"); });

  StageCache list(dir / "cache", {}, CacheUse::kList);
  EXPECT_THROW(ShareTasks(list, 3,
                          [&](std::int64_t i) {
                            list.RunStage(StageOf(i), [](const std::string&) { FAIL(); });
                          }),
               StageHeld);
  ::kill(child, SIGKILL);
  WaitFor(child);
  std::vector<StageState::Kind> kinds(3);
  for (const StageState& state : list.states()) {
    for (std::int64_t i = 0; i < 3; ++i) {
      if (state.key == StageOf(i).Hash()) kinds[static_cast<std::size_t>(i)] = state.kind;
    }
    if (state.kind == StageState::Kind::kRunning) {
      EXPECT_EQ(state.process, child);
    }
    if (state.kind == StageState::Kind::kDone) {
      ASSERT_TRUE(state.cost);
      EXPECT_TRUE(state.cost->cpu_seconds);
    }
  }
  EXPECT_THAT(kinds, ElementsAre(StageState::Kind::kDone, StageState::Kind::kRunning,
                                 StageState::Kind::kToDo));
  // nothing is left behind
  EXPECT_FALSE(list.HasStage(StageOf(2)));
  EXPECT_FALSE(std::filesystem::exists(LockOf(dir, StageOf(2))));
  StageCache none(dir / "none", {}, CacheUse::kList);
  EXPECT_THROW(none.RunStage(StageOf(0), WriterOf(0)), StageHeld);
  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
}

}  // namespace
}  // namespace lfiw::core
