#include "core/parallel.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace lfiw::core {
namespace {

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
