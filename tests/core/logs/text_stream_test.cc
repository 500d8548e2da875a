#include "core/logs/text_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/logs/line_reader.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kText = "a,b\n1,2\n3,4\n";

// The text as packed by Python's gzip, bz2 and lzma and by zstandard 0.25.
const std::pair<const char*, std::string> kPacked[] = {
    {"gzip",
     "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xd4\x49\xe2\x32\xd4\x31\xe2\x32\xd6\x31\xe1\x02"
     "\x00"
     "\xe5\xe9\xd6\xce\x0c\x00\x00\x00"s},
    {"zstd",
     "\x28\xb5\x2f\xfd\x20\x0c\x61\x00\x00\x61\x2c\x62\x0a\x31\x2c\x32\x0a\x33\x2c\x34\x0a"s},
    {"bzip2",
     "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x03\x0c\x1f\x1b\x00\x00\x05\x59\x00\x00\x10\x00\x04"
     "\x3c"
     "\x00\x30\x00\x20\x00\x22\x1e\xa1\x88\x43\x02\x27\x34\xe3\x80\x1e\x2e\xe4\x8a\x70\xa1\x20\x06"
     "\x18"
     "\x3e\x36"s},
    {"xz",
     "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5"
     "\xa3"
     "\x01\x00\x0b\x61\x2c\x62\x0a\x31\x2c\x32\x0a\x33\x2c\x34\x0a\x00\x10\x55\xe3\x96\x32\x2f\x91"
     "\x5e"
     "\x00\x01\x24\x0c\xa6\x18\xd8\xd8\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a"s}};

TEST(TextStream, UnpacksWhatIsPacked) {
  const TestDir dir;
  for (const auto& [name, bytes] : kPacked) {
    EXPECT_EQ(CompressionOf(bytes), name);
    WriteFileAtomically(dir / name, bytes);
    std::ostringstream text;
    text << OpenTextStream(dir / name)->rdbuf();
    EXPECT_EQ(text.str(), kText) << name;
  }
}

TEST(TextStream, UnpacksFarMoreThanItReadsAtATime) {
  // 100,000 lines "0,0" as packed by zstandard 0.25, twice in a row
  const std::string packed =
      "\x28\xb5\x2f\xfd\xa0\x80\x1a\x06\x00\x64\x00\x00\x20\x30\x2c\x30\x0a\x01\x00\xf9\xff\xe7\x8e\x08\x4c\x00\x00\x08\x30\x01\x00\xfc\xff\x39\x10\x02\x4c\x00\x00\x08\x30\x01\x00\xfc\xff\x39\x10\x02\x45\x00\x00\x08\x30\x01\x00\x7c\xda\x03\x21"s;
  const TestDir dir;
  WriteFileAtomically(dir / "log.csv.zst", packed + packed);
  LineReader lines(dir / "log.csv.zst");
  while (const auto line = lines.Next()) ASSERT_EQ(*line, "0,0");
  EXPECT_EQ(lines.line(), 200'000);
}

TEST(TextStream, LeavesATextAsItIs) {
  const TestDir dir;
  WriteFileAtomically(dir / "file", kText);
  const auto stream = OpenTextStream(dir / "file");
  EXPECT_EQ(FirstBytes(*stream, 3), "a,b");
  EXPECT_EQ(FirstBytes(*stream, 100), "\n1,2\n3,4\n");
  EXPECT_EQ(CompressionOf(kText), "");
  EXPECT_THAT([&] { OpenTextStream(dir / "none"); },
              ThrowsMessage<DataError>(HasSubstr("No such file")));
}

TEST(TextStream, WhatIsCutShortOrDamagedIsAnErrorAndNoShorterText) {
  const TestDir dir;
  for (const auto& [name, bytes] : kPacked) {
    for (const std::size_t length : {bytes.size() - 1, bytes.size() / 2}) {
      WriteFileAtomically(dir / name, bytes.substr(0, length));
      const auto read = [&] {
        LineReader lines(dir / name);
        while (lines.Next()) continue;
      };
      EXPECT_THAT(read, ThrowsMessage<DataError>(HasSubstr("damaged or cut short")))
          << name << " " << length << " of " << bytes.size();
    }
  }
}

TEST(OpenLog, ReadsPackedTextAndRefusesPackedArrays) {
  const TestDir dir;
  WriteFileAtomically(dir / "log.csv.gz", kPacked[0].second);
  // unpacked it is a table without the columns of a log
  EXPECT_THAT([&] { OpenLog(dir / "log.csv.gz"); }, ThrowsMessage<DataError>(HasSubstr("column")));
}

}  // namespace
}  // namespace lfiw::core
