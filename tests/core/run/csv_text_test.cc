#include "core/run/csv_text.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lfiw::core
