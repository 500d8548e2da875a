#include "core/run/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/run/host_name.h"
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

TEST(FileLockTest, ReadersShareALockThatAWriterHoldsAlone) {
  const TestDir dir;
  auto reader = FileLock::Try(dir / "lock", LockKind::kShared);
  auto second = FileLock::Try(dir / "lock", LockKind::kShared);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(FileLock::Try(dir / "lock"), nullptr);
  reader.reset();
  second.reset();
  const auto writer = FileLock::Try(dir / "lock");
  ASSERT_NE(writer, nullptr);
  EXPECT_EQ(FileLock::Try(dir / "lock", LockKind::kShared), nullptr);
}

TEST(FileLockTest, TellsWhoHoldsIt) {
  const TestDir dir;
  EXPECT_EQ(HolderOf(dir / "lock").process, 0);
  const FileLock lock(dir / "lock");
  EXPECT_EQ(HolderOf(dir / "lock").host, "");
  lock.NameHolder();
  EXPECT_EQ(HolderOf(dir / "lock").host, HostName());
  EXPECT_EQ(HolderOf(dir / "lock").process, ::getpid());
}

TEST(FileLockTest, AWaitForSeveralEndsWithTheFirstThatIsFree) {
  const TestDir dir;
  const FileLock never(dir / "never");
  std::optional<FileLock> soon(std::in_place, dir / "soon");
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    soon.reset();
  });
  WaitForAnyLock(std::vector<std::string>{dir / "never", dir / "soon"});
  other.join();
  EXPECT_NE(FileLock::Try(dir / "soon"), nullptr);
}

TEST(FileLockTest, AnImpossiblePathIsADataError) {
  const TestDir dir;
  EXPECT_THROW(FileLock lock(dir / "no/lock"), DataError);
}

}  // namespace
}  // namespace lfiw::core
