#include "core/run/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "core/error.h"
#include "core/run/progress.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

TEST(FileLockTest, ASecondHolderWaitsForTheFirst) {
  const TestDir dir;
  std::optional<FileLock> first(std::in_place, dir / "lock");
  std::atomic<bool> acquired = false;
  std::thread second([&] {
    const FileLock lock(dir / "lock");
    acquired = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(acquired);
  first.reset();
  second.join();
  EXPECT_TRUE(acquired);
}

TEST(FileLockTest, AnInterruptEndsTheWait) {
  const TestDir dir;
  const FileLock first(dir / "lock");
  InterruptRequested() = true;
  EXPECT_THROW(FileLock second(dir / "lock"), Interrupted);
  InterruptRequested() = false;
}

TEST(FileLockTest, ATryTakesAFreeLockAndLeavesAHeldOne) {
  const TestDir dir;
  std::unique_ptr<FileLock> first = FileLock::Try(dir / "lock");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(FileLock::Try(dir / "lock"), nullptr);
  first.reset();
  EXPECT_NE(FileLock::Try(dir / "lock"), nullptr);
}

TEST(FileLockTest, AnImpossiblePathIsADataError) {
  const TestDir dir;
  EXPECT_THROW(FileLock lock(dir / "no/lock"), DataError);
}

}  // namespace
}  // namespace lfiw::core
