#include "core/parallel.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
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
  ParallelFor(4, [&](std::int64_t i) { Sleep(1 + (3 * outer + 5 * i) % 7); });
}

// Runs `body` in two processes of this one. True if both return within `seconds`; they are killed
// if not. Only for a process without other threads.
bool BothProcessesReturn(const std::function<void()>& body, int seconds) {
  std::array<pid_t, 2> children{};
  for (pid_t& child : children) {
    child = fork();
    if (child == 0) {
      body();
      _exit(0);
    }
  }
  std::size_t returned = 0;
  for (int waited = 0; returned < children.size() && waited < 1000 * seconds; waited += 10) {
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
  SetThreads(4);
  ParallelFor(64, [&](std::int64_t i) {
    int seen = deepest;
    ++depth;
    while (seen < depth && !deepest.compare_exchange_weak(seen, depth)) {
    }
    RunUnevenInnerLoop(i);
    --depth;
  });
  SetThreads(0);
  EXPECT_EQ(deepest, 1);
}

TEST(ParallelForDeathTest, ProcessesThatShareLocksOfTasksWithInnerLoopsDoNotWaitForEver) {
  const auto both_return = [] {
    const TestDir dir;
    const auto run = [&] {
      SetThreads(4);
      for (int round = 0; round < 8; ++round) {
        ParallelFor(16, [&](std::int64_t i) {
          const FileLock lock(dir / fmt::format("{}.lock", i));
          RunUnevenInnerLoop(i);
        });
      }
    };
    return BothProcessesReturn(run, 20);
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
