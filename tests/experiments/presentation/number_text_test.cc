#include "experiments/presentation/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lfiw::experiments {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberText, NothingThatIsNoNumberIsPrintedAsOne) {
  for (const std::optional<double> value : {std::optional<double>(), std::optional(kNan),
                                            std::optional(kInfinity), std::optional(-kInfinity)}) {
    EXPECT_EQ(NumberText(value), kNoNumber);
    EXPECT_EQ(FixedText(value, 2), kNoNumber);
    EXPECT_EQ(EstimateText(value, 1.0), kNoNumber);
    EXPECT_EQ(CountText(value), kNoNumber);
    EXPECT_EQ(DurationText(value), kNoNumber);
  }
}

TEST(NumberText, KeepsSignificantDigitsOnly) {
  EXPECT_EQ(NumberText(217.83), "217.8");
  EXPECT_EQ(NumberText(14170.4), "14170");
  EXPECT_EQ(NumberText(0.012345), "0.01235");
  EXPECT_EQ(NumberText(0.5), "0.5");
  EXPECT_EQ(NumberText(-3.0), "-3");
  EXPECT_EQ(NumberText(0.0), "0");
  EXPECT_EQ(NumberText(100.0), "100");
  EXPECT_EQ(NumberText(1.25e30), "1.25e+30");
  EXPECT_EQ(NumberText(2e-7), "2e-07");
}

TEST(FixedText, ZeroHasNoSign) {
  EXPECT_EQ(FixedText(-0.0004, 2), "0.00");
  EXPECT_EQ(FixedText(-0.006, 2), "-0.01");
}

TEST(EstimateText, StandardErrorSetsTheDigits) {
  EXPECT_EQ(EstimateText(217.83, 4.03), "217.8 \xC2\xB1 4.0");
  EXPECT_EQ(EstimateText(14170.2, 53.2), "14170 \xC2\xB1 53");
  EXPECT_EQ(EstimateText(9372.4, 375.0), "9372 \xC2\xB1 375");
  EXPECT_EQ(EstimateText(0.123456, 0.00345), "0.1235 \xC2\xB1 0.0034");
}

TEST(EstimateText, WithoutStandardErrorOnlyTheValue) {
  EXPECT_EQ(EstimateText(217.83, std::nullopt), "217.8");
  EXPECT_EQ(EstimateText(217.83, kNan), "217.8");
}

TEST(CountText, GroupsThousands) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(1234567), "1,234,567");
  EXPECT_EQ(CountText(-100000), "-100,000");
}

TEST(DurationText, UnitFitsTheLength) {
  EXPECT_EQ(DurationText(0.34), "340 ms");
  EXPECT_EQ(DurationText(12.34), "12.3 s");
  EXPECT_EQ(DurationText(59.98), "1 min 00 s");
  EXPECT_EQ(DurationText(245), "4 min 05 s");
  EXPECT_EQ(DurationText(7380), "2 h 03 min");
}

}  // namespace
}  // namespace lfiw::experiments
