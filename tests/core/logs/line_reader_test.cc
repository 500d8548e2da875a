#include "core/logs/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> Lines(const std::string& content) {
  const TestDir dir;
  WriteFileAtomically(dir / "file", content);
  LineReader reader(dir / "file");
  std::vector<std::string> lines;
  while (const auto line = reader.Next()) {
    lines.emplace_back(*line);
    EXPECT_EQ(reader.line(), static_cast<std::int64_t>(lines.size()));
  }
  return lines;
}

TEST(LineReader, LastLineMayLackItsEnd) {
  EXPECT_THAT(Lines("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(Lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(Lines(""), ElementsAre());
}

TEST(LineReader, EmptyLinesMayBeSkippedAndStillCount) {
  const TestDir dir;
  WriteFileAtomically(dir / "file", "\n\r\na\n\nb\n\n");
  LineReader reader(dir / "file");
  EXPECT_EQ(reader.NextNonEmpty(), "a");
  EXPECT_EQ(reader.line(), 3);
  EXPECT_EQ(reader.NextNonEmpty(), "b");
  EXPECT_EQ(reader.line(), 5);
  EXPECT_EQ(reader.NextNonEmpty(), std::nullopt);
}

TEST(LineReader, LinesCrossBlocks) {
  std::string content;
  for (int i = 0; i < 30; ++i)
    content += std::string(100'000, static_cast<char>('a' + i % 26)) + "\n";
  const std::vector<std::string> lines = Lines(content);
  ASSERT_EQ(lines.size(), 30U);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(lines[static_cast<std::size_t>(i)],
              std::string(100'000, static_cast<char>('a' + i % 26)));
  }
}

TEST(LineReader, AnEndlessLineIsADataError) {
  EXPECT_THAT([] { Lines(std::string(5 << 20, 'x')); },
              ThrowsMessage<DataError>(HasSubstr("line 1: longer than")));
}

TEST(SplitCsvLine, QuotesHoldCommasAndQuotes) {
  EXPECT_THAT(SplitCsvLine(R"(a,"b,c",,"d""e")", "x"), ElementsAre("a", "b,c", "", "d\"e"));
  EXPECT_THAT(SplitCsvLine("", "x"), ElementsAre(""));
  EXPECT_THAT([] { SplitCsvLine("a,\"b", "x"); },
              ThrowsMessage<DataError>(HasSubstr("a quote is not closed")));
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseNumber("1.5"), 1.5);
  EXPECT_EQ(ParseNumber(" +2e3 "), 2000.0);
  EXPECT_TRUE(std::isnan(ParseNumber("nan").value()));
  EXPECT_TRUE(std::isinf(ParseNumber("-inf").value()));
  for (const char* text : {"", " ", "1x", "x", "1,5", "0x10", "1e999"}) {
    EXPECT_FALSE(ParseNumber(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace lfiw::core
