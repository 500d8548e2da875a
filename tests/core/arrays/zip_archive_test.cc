#include "core/arrays/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

class ZipArchiveTest : public testing::Test {
 protected:
  ZipArchiveTest() {
    NpzFile file;
    file.Put("a", std::string("text of a"));
    file.Write(path_);
  }

  TestDir dir_;
  std::string path_ = dir_ / "a.npz";
};

TEST_F(ZipArchiveTest, EntriesOfAFileAndOfBytesAreTheSame) {
  const ZipArchive file = ZipArchive::OpenFile(path_);
  const ZipArchive bytes = ZipArchive::OpenBytes(ReadFile(path_), "memory");
  EXPECT_THAT(file.names(), ElementsAre("a.npy"));
  EXPECT_THAT(bytes.names(), ElementsAre("a.npy"));
  EXPECT_TRUE(file.Has("a.npy"));
  EXPECT_FALSE(file.Has("b.npy"));
  EXPECT_THAT(file.Read("a.npy", 1000), HasSubstr("text of a"));
  EXPECT_EQ(file.Read("a.npy", 1000), bytes.Read("a.npy", 1000));
}

TEST_F(ZipArchiveTest, WhatIsMissingOrTooLargeIsNamed) {
  const ZipArchive archive = ZipArchive::OpenBytes(ReadFile(path_), "memory");
  EXPECT_THAT([&] { archive.Read("b.npy", 1000); },
              ThrowsMessage<DataError>(StartsWith("memory: entry 'b.npy': missing")));
  EXPECT_THAT([&] { archive.Read("a.npy", 10); },
              ThrowsMessage<DataError>(HasSubstr("expected at most 10")));
}

TEST_F(ZipArchiveTest, ADamagedArchiveIsADataError) {
  const std::string whole = ReadFile(path_);
  EXPECT_THROW(ZipArchive::OpenBytes("no archive", "memory"), DataError);
  EXPECT_THROW(ZipArchive::OpenFile(dir_ / "missing.zip"), DataError);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string broken = whole;
    broken[i] = static_cast<char>(broken[i] ^ 0xff);
    try {
      const ZipArchive archive = ZipArchive::OpenBytes(broken, "memory");
      for (const std::string& name : archive.names()) archive.Read(name, 1000);
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), StartsWith("memory"));
    }
    EXPECT_THROW(ZipArchive::OpenBytes(whole.substr(0, i), "memory"), DataError) << i;
  }
}

}  // namespace
}  // namespace lfiw::core
