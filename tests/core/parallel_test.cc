#include "core/parallel.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/run/file_lock.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

void Sleep(std::int64_t milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Runs an inner loop whose bodies take differently long, so that a thread waits at its end.
void RunUnevenInnerLoop(std::int64_t outer) {
  ParallelFor(4, [&](std::int64_t i) { Sleep(2 + (3 * outer + 5 * i) % 11); });
}

// Runs `body` where eight threads work, whatever the number of cores: some of them idle and take
// parts of inner loops while others still have outer tasks to give.
void WithEightThreads(const std::function<void()>& body) {
  SetThreads(8);
  tbb::task_arena(8).execute(body);
  SetThreads(0);
}

// Runs body(0) and body(1) in two processes of their own. True if both return within `seconds`;
// they are killed if not. Only for a process without other threads.
bool BothProcessesReturn(const std::function<void(std::size_t)>& body, int seconds) {
  std::array<pid_t, 2> children{};
  for (std::size_t process = 0; process < children.size(); ++process) {
    children[process] = fork();
    if (children[process] == 0) {
      body(process);
      _exit(0);
    }
  }
  std::size_t returned = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (returned < children.size() && std::chrono::steady_clock::now() < end) {
    int status = 0;
    if (waitpid(-1, &status, WNOHANG) > 0) {
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) break;
      ++returned;
    } else {
      Sleep(10);
    }
  }
  if (returned == children.size()) return true;
  for (const pid_t child : children) kill(child, SIGKILL);
  return false;
}

TEST(ParallelFor, RunsEveryIndexOnce) {
  std::vector<std::atomic<int>> runs(1000);
  ParallelFor(1000, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, RethrowsTheFailureOfTheLowestIndex) {
  for (const int threads : {1, 2, 8}) {
    SetThreads(threads);
    try {
      ParallelFor(100, [](std::int64_t i) {
        if (i >= 17) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "17");
    }
  }
  SetThreads(0);
}

TEST(ParallelFor, TasksSeeOneOpenMpThread) {
  std::atomic<int> most = 0;
  ParallelFor(64, [&](std::int64_t) {
    int seen = most;
    while (seen < omp_get_max_threads() &&
           !most.compare_exchange_weak(seen, omp_get_max_threads())) {
    }
  });
  EXPECT_EQ(most, 1);
}

TEST(ParallelFor, AThreadThatWaitsForAnInnerLoopStartsNoOuterTask) {
  static thread_local int depth = 0;
  std::atomic<int> deepest = 0;
  WithEightThreads([&] {
    ParallelFor(64, [&](std::int64_t i) {
      int seen = deepest;
      ++depth;
      while (seen < depth && !deepest.compare_exchange_weak(seen, depth)) {
      }
      RunUnevenInnerLoop(i);
      --depth;
    });
  });
  EXPECT_EQ(deepest, 1);
}

TEST(ParallelForDeathTest, ProcessesThatShareLocksOfTasksWithInnerLoopsDoNotWaitForEver) {
  const auto both_return = [] {
    const TestDir dir;
    // few locks, in opposite order: harmless for whoever holds one at a time
    const auto run = [&](std::size_t process) {
      for (int round = 0; round < 3; ++round) {
        ParallelFor(64, [&](std::int64_t i) {
          const FileLock lock(dir / fmt::format("{}.lock", (process == 0 ? i : 63 - i) % 4));
          RunUnevenInnerLoop(i);
        });
      }
    };
    return BothProcessesReturn(
        [&](std::size_t process) { WithEightThreads([&] { run(process); }); }, 30);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // fork wants a process without threads
  EXPECT_EXIT(_exit(both_return() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST(ParallelBlocks, CutsByTheProblemAlone) {
  for (const int threads : {1, 2, 8}) {
    SetThreads(threads);
    std::vector<int> length(4);
    ParallelBlocks(10, 3, [&](std::int64_t begin, std::int64_t end) {
      length[static_cast<std::size_t>(begin / 3)] = static_cast<int>(end - begin);
    });
    EXPECT_EQ(length, (std::vector<int>{3, 3, 3, 1}));
  }
  SetThreads(0);
}

}  // namespace
}  // namespace lfiw::core
