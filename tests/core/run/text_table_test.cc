#include "core/run/text_table.h"

#include <gtest/gtest.h>

namespace lfiw::core {
namespace {

TEST(TextTableTest, TextAlignsLeftAndNumbersRight) {
  EXPECT_EQ(FormatTextTable({"name", "value"}, {{"a", "1.5"}, {"longer", "-12.25"}}),
            "name     value\n"
            "------  ------\n"
            "a          1.5\n"
            "longer  -12.25\n");
}

TEST(TextTableTest, WidthsCountCharactersNotBytes) {
  EXPECT_EQ(FormatTextTable({"x", "y"}, {{"é", "ab"}, {"e", "c"}}),
            "x  y\n"
            "-  --\n"
            "é  ab\n"
            "e  c\n");
}

TEST(FormatRoundedTest, KeepsSignificantDigits) {
  EXPECT_EQ(FormatRounded(219.1234), "219.1");
  EXPECT_EQ(FormatRounded(14170.4), "14170");
  EXPECT_EQ(FormatRounded(0.012344), "0.01234");
  EXPECT_EQ(FormatRounded(-1.0), "-1.000");
  EXPECT_EQ(FormatRounded(0.0), "0.000");
  EXPECT_EQ(FormatRounded(1.2345e-5), "1.234e-05");
  EXPECT_EQ(FormatRounded(1.2e9, 2), "1.2e+09");
}

}  // namespace
}  // namespace lfiw::core
