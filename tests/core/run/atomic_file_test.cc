#include "core/run/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Limits the size of any file this process writes, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int) = nullptr;
};

TEST(AtomicFileTest, WritesAndReadsAnyBytes) {
  const TestDir dir;
  const std::string bytes("a\0\xff\n", 4);
  WriteFileAtomically(dir / "f", bytes);
  EXPECT_EQ(ReadFile(dir / "f"), bytes);
  EXPECT_EQ(dir.Count(), 1);
}

TEST(AtomicFileTest, ReplacesAnExistingFile) {
  const TestDir dir;
  WriteFileAtomically(dir / "f", "old and long");
  WriteFileAtomically(dir / "f", "new");
  EXPECT_EQ(ReadFile(dir / "f"), "new");
}

TEST(AtomicFileTest, WithoutCommitNothingIsLeft) {
  const TestDir dir;
  {
    const AtomicFile file(dir / "f");
    EXPECT_TRUE(std::filesystem::exists(file.temporary()));
  }
  EXPECT_EQ(dir.Count(), 0);
}

TEST(AtomicFileTest, NewFilesFollowTheUmask) {
  const TestDir dir;
  const mode_t old = ::umask(027);
  WriteFileAtomically(dir / "f", "x");
  ::umask(old);
  EXPECT_EQ(static_cast<int>(std::filesystem::status(dir / "f").permissions()), 0640);
}

TEST(AtomicFileTest, FullDiskIsADataErrorAndKeepsTheOldContent) {
  const TestDir dir;
  WriteFileAtomically(dir / "f", "old");
  {
    const FileSizeLimit limit(1000);
    EXPECT_THAT([&] { WriteFileAtomically(dir / "f", std::string(5000, 'x')); },
                ThrowsMessage<DataError>(AllOf(HasSubstr(dir / "f"), HasSubstr("File too large"))));
  }
  EXPECT_EQ(ReadFile(dir / "f"), "old");
  EXPECT_EQ(dir.Count(), 1);
}

TEST(AtomicFileTest, MissingDirectoryAndPathUnderAFileAreNamed) {
  const TestDir dir;
  EXPECT_THAT([&] { WriteFileAtomically(dir / "no/f", "x"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr(dir / "no/f"), HasSubstr("No such file or directory"))));
  WriteFileAtomically(dir / "f", "x");
  EXPECT_THAT([&] { WriteFileAtomically(dir / "f/g", "x"); },
              ThrowsMessage<DataError>(HasSubstr("Not a directory")));
}

TEST(AtomicFileTest, DevicesAndDirectoriesAreNeverReplaced) {
  const TestDir dir;
  EXPECT_THAT([&] { WriteFileAtomically("/dev/full", "x"); },
              ThrowsMessage<DataError>(HasSubstr("special file")));
  EXPECT_THAT([&] { WriteFileAtomically(dir.path(), "x"); },
              ThrowsMessage<DataError>(HasSubstr("directory")));
}

TEST(ReadFileTest, MissingFilesDirectoriesAndLargeFilesAreDataErrors) {
  const TestDir dir;
  WriteFileAtomically(dir / "f", "12345");
  EXPECT_THAT([&] { ReadFile(dir / "no"); },
              ThrowsMessage<DataError>(HasSubstr("No such file or directory")));
  EXPECT_THAT([&] { ReadFile(dir.path()); }, ThrowsMessage<DataError>(HasSubstr("directory")));
  EXPECT_THAT([&] { ReadFile(dir / "f", 4); },
              ThrowsMessage<DataError>(HasSubstr("more than 4 bytes")));
  EXPECT_THAT([&] { ReadFile("/dev/zero", 10'000); },
              ThrowsMessage<DataError>(HasSubstr("more than 10000 bytes")));
  EXPECT_EQ(ReadFile(dir / "f", 5), "12345");
}

}  // namespace
}  // namespace lfiw::core
