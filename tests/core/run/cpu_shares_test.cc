#include "core/run/cpu_shares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lfiw::core {
namespace {

TEST(CpuSharesTest, SplitsWhatIsUsedWhileSeveralPiecesAreUnderWay) {
  double now = 100.0;
  CpuShares shares([&now] { return now; });
  const auto first = shares.Begin();
  now += 3.0;
  const auto second = shares.Begin();
  now += 4.0;
  EXPECT_DOUBLE_EQ(shares.End(first), 5.0);
  now += 1.0;
  EXPECT_DOUBLE_EQ(shares.End(second), 3.0);
  now += 50.0;  // nobody's
  const auto third = shares.Begin();
  now += 2.0;
  EXPECT_DOUBLE_EQ(shares.End(third), 2.0);
}

TEST(CpuSharesTest, TheClockOfTheProcessCountsWork) {
  const double before = ProcessCpuSeconds();
  double sum = 0.0;
  while (ProcessCpuSeconds() - before < 0.01) sum += std::sqrt(sum + 1.0);
  EXPECT_GT(sum, 0.0);
  EXPECT_LT(ProcessCpuSeconds() - before, 10.0);
}

}  // namespace
}  // namespace lfiw::core
