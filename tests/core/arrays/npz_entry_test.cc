#include "core/arrays/npz_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Where the entries of a zip file's directory hold what the tests change.
constexpr std::size_t kMethodOffset = 10, kSizeOffset = 24;

class NpzEntryTest : public testing::Test {
 protected:
  NpzEntryTest() {
    NpzFile file;
    file.Put("first", std::vector<double>{0.5, -2.0});
    file.Put("other", std::vector<std::int64_t>{7});
    file.Write(path_);
    bytes_ = ReadFile(path_);
  }

  // The place of the first entry in the directory at the end of the file.
  std::size_t Directory() const { return bytes_.find("PK\x01\x02"); }
  void Replace(std::string_view old, std::string_view with) {
    for (std::size_t at = 0; (at = bytes_.find(old, at)) != std::string::npos; at += old.size()) {
      bytes_.replace(at, old.size(), with);
    }
  }
  std::vector<NpyEntryInfo> List() {
    WriteFileAtomically(path_, bytes_);
    zip_ = OpenNpz(path_);
    return ListNpyEntries(zip_.get(), path_);
  }
  NpyEntry OpenFirst() {
    const std::vector<NpyEntryInfo> entries = List();
    return OpenNpyEntry(zip_.get(), entries[0], "here");
  }

  TestDir dir_;
  std::string path_ = dir_ / "a.npz";
  std::string bytes_;
  Zip zip_;
};

TEST_F(NpzEntryTest, TheListHasTheNamesOfArraysAndTheSizesOfEntries) {
  const std::vector<NpyEntryInfo> entries = List();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "first");
  EXPECT_EQ(entries[1].name, "other");
  EXPECT_EQ(entries[0].size - entries[1].size, 8);
}

TEST_F(NpzEntryTest, AnOpenedEntryStandsAtTheFirstByteOfItsArray) {
  const NpyEntry entry = OpenFirst();
  EXPECT_EQ(entry.header.type, "f8");
  ASSERT_EQ(entry.bytes, 16);
  std::vector<double> values(2);
  ReadExactly(entry.entry.get(), std::as_writable_bytes(std::span(values)), "here");
  EXPECT_THAT(values, ElementsAre(0.5, -2.0));
  EXPECT_NO_THROW(CheckEnd(entry.entry.get(), "here"));
}

TEST_F(NpzEntryTest, MoreThanTheEntryHoldsIsMissed) {
  const NpyEntry entry = OpenFirst();
  std::vector<std::byte> bytes(21);
  EXPECT_THAT([&] { ReadExactly(entry.entry.get(), bytes, "here"); },
              ThrowsMessage<DataError>(HasSubstr("here: 5 bytes are missing at the end")));
}

TEST_F(NpzEntryTest, TheEndShowsDamagedBytes) {
  Replace(std::string("\0\0\0\0\0\0\xe0\x3f", 8), std::string("\0\0\0\0\0\0\xe0\x3e", 8));
  const NpyEntry entry = OpenFirst();
  std::vector<std::byte> bytes(16);
  ReadExactly(entry.entry.get(), bytes, "here");
  EXPECT_THAT([&] { CheckEnd(entry.entry.get(), "here"); },
              ThrowsMessage<DataError>(HasSubstr("here: CRC error")));
}

TEST_F(NpzEntryTest, AShapeThatTheEntryDoesNotHoldIsRefused) {
  Replace("(2,)", "(3,)");
  EXPECT_THAT([&] { OpenFirst(); },
              ThrowsMessage<DataError>(
                  HasSubstr("here: shape [3] of type f8 needs 24 bytes, the file holds 16")));
}

TEST_F(NpzEntryTest, AnEndlessHeaderIsRefusedBeforeItIsRead) {
  // version 2 has four bytes of length, which are here those of the text
  Replace("NUMPY\x01", "NUMPY\x02");
  EXPECT_THAT([&] { OpenFirst(); },
              ThrowsMessage<DataError>(HasSubstr("bytes, expected at most 1048576")));
}

TEST_F(NpzEntryTest, ANameThatOccursTwiceIsRefused) {
  Replace("other.npy", "first.npy");
  EXPECT_THAT([&] { List(); },
              ThrowsMessage<DataError>(HasSubstr("array 'first': the name occurs twice")));
}

TEST_F(NpzEntryTest, AnUnknownCompressionIsRefused) {
  bytes_[Directory() + kMethodOffset] = 97;
  EXPECT_THAT([&] { List(); },
              ThrowsMessage<DataError>(HasSubstr("array 'first': an unknown compression")));
}

TEST_F(NpzEntryTest, MoreBytesThanTheFileCanHoldAreRefused) {
  // a stored entry of 2^24 bytes and more
  bytes_[Directory() + kSizeOffset + 3] = 1;
  EXPECT_THAT([&] { List(); }, ThrowsMessage<DataError>(HasSubstr("damaged or cut off")));
}

TEST(OpenNpz, MissingEmptyAndOtherFilesAreNamed) {
  const TestDir dir;
  EXPECT_THAT([&] { OpenNpz(dir / "none"); },
              ThrowsMessage<DataError>(HasSubstr("none: No such file or directory")));
  WriteFileAtomically(dir / "empty", "");
  EXPECT_THAT([&] { OpenNpz(dir / "empty"); },
              ThrowsMessage<DataError>(HasSubstr("empty: the file is empty")));
  WriteFileAtomically(dir / "text", "text");
  EXPECT_THAT([&] { OpenNpz(dir / "text"); },
              ThrowsMessage<DataError>(HasSubstr("cannot read " + (dir / "text"))));
}

}  // namespace
}  // namespace lfiw::core
