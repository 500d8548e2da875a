#include "core/csv_text.h"

#include <gtest/gtest.h>

namespace lfiw {
namespace {

TEST(QuotedCsv, DoublesQuotesAndKeepsTheRest) {
  EXPECT_EQ(QuotedCsv(""), "\"\"");
  EXPECT_EQ(QuotedCsv("a, b\nc"), "\"a, b\nc\"");
  EXPECT_EQ(QuotedCsv("say \"no\""), "\"say \"\"no\"\"\"");
}

}  // namespace
}  // namespace lfiw
