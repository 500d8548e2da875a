#include "core/run/cache_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::HasSubstr;

constexpr const char* kMounts =
    "/dev/vda / ext4 rw,relatime 0 0\n"
    "server:/home /home nfs4 rw,vers=4.2,local_lock=none 0 0\n"
    "server:/old /home/old nfs rw,nolock,vers=3 0 0\n"
    "mds@tcp:/scratch /scratch lustre rw,flock,lazystatfs 0 0\n"
    "mds@tcp:/fast /fast lustre rw,localflock 0 0\n"
    "mds@tcp:/bare /bare lustre rw,lazystatfs 0 0\n"
    "tmpfs /scratch/ram tmpfs rw 0 0\n";

FileSystemCheck JudgmentOf(const std::string& path) { return JudgeMount(MountOf(path, kMounts)); }

TEST(CacheFileSystem, FindsTheMountOfAPath) {
  EXPECT_EQ(MountOf("/home/me/cache", kMounts).folder, "/home");
  EXPECT_EQ(MountOf("/home/old/cache", kMounts).type, "nfs");
  EXPECT_EQ(MountOf("/homes", kMounts).folder, "/");
  EXPECT_EQ(MountOf("/scratch/ram", kMounts).type, "tmpfs");
  EXPECT_EQ(MountOf("/scratch", "").type, "");
}

TEST(CacheFileSystem, RefusesMountsWhoseLocksHoldOnOneMachineOnly) {
  EXPECT_TRUE(JudgmentOf("/data").passed);
  EXPECT_TRUE(JudgmentOf("/home/me").passed);
  EXPECT_TRUE(JudgmentOf("/scratch/me").passed);
  EXPECT_FALSE(JudgmentOf("/home/old").passed);
  EXPECT_THAT(JudgmentOf("/home/old").detail, HasSubstr("nolock"));
  EXPECT_FALSE(JudgmentOf("/fast").passed);
  EXPECT_FALSE(JudgmentOf("/bare").passed);
  EXPECT_THAT(JudgmentOf("/bare").detail, HasSubstr("mount it with"));
}

TEST(CacheFileSystem, ALocalFolderPassesAndNothingIsLeft) {
  const TestDir dir;
  const std::vector<FileSystemCheck> checks = CheckCacheFolder(dir / "cache");
  EXPECT_EQ(checks.size(), 5u);
  for (const FileSystemCheck& check : checks) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir / "cache"));
}

TEST(CacheFileSystem, AFolderThatCannotBeMadeIsADataError) {
  const TestDir dir;
  WriteFileAtomically(dir / "file", "");
  EXPECT_THROW(CheckCacheFolder(dir / "file/cache"), DataError);
}

}  // namespace
}  // namespace lfiw::core
