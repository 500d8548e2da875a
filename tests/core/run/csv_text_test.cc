#include "core/run/csv_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace lfiw::core {
namespace {

TEST(QuotedCsv, DoublesQuotesAndKeepsTheRest) {
  EXPECT_EQ(QuotedCsv(""), "\"\"");
  EXPECT_EQ(QuotedCsv("a, b\nc"), "\"a, b\nc\"");
  EXPECT_EQ(QuotedCsv("say \"no\""), "\"say \"\"no\"\"\"");
}

TEST(NumberCsv, ReadsBackAsTheSameAndIsEmptyForNone) {
  EXPECT_EQ(std::stod(NumberCsv(1.0 / 3.0)), 1.0 / 3.0);
  EXPECT_EQ(NumberCsv(2.0), "2");
  EXPECT_EQ(NumberCsv({}), "");
}

TEST(CsvCell, QuotesTextOnlyWhereItMust) {
  EXPECT_EQ(CsvCell("plain text"), "plain text");
  EXPECT_EQ(CsvCell(std::string("a,b")), "\"a,b\"");
  EXPECT_EQ(CsvCell(std::string("two\nlines")), "\"two\nlines\"");
  EXPECT_EQ(CsvCell(QuotedText{"plain"}), "\"plain\"");
}

TEST(CsvCell, WritesNumbersTruthValuesAndNothing) {
  EXPECT_EQ(CsvCell(0.1), "0.1");
  EXPECT_EQ(CsvCell(std::int64_t{-7}), "-7");
  EXPECT_EQ(CsvCell(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(CsvCell(true), "1");
  EXPECT_EQ(CsvCell(std::optional<bool>(false)), "0");
  EXPECT_EQ(CsvCell(std::optional<double>()), "");
}

}  // namespace
}  // namespace lfiw::core
