#include "core/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.h"

namespace lfiw::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> Normals(std::size_t n) {
  Stream stream(1, "statistics_test");
  std::vector<double> values(n);
  stream.FillNormal(std::span<double>(values));
  return values;
}

TEST(SumTest, CancellationLosesNothing) {
  EXPECT_EQ(Sum(std::vector<double>{1e100, 1.0, -1e100, 1.0}), 2.0);
  const std::vector<double> tenths(1'000'000, 0.1);
  EXPECT_NEAR(Sum(tenths), 1e5, 2e-11);
}

TEST(SumTest, EmptyIsZeroAndInfinitiesPass) {
  EXPECT_EQ(Sum({}), 0.0);
  EXPECT_EQ(Sum(std::vector<double>{1.0, kInfinity, 1.0}), kInfinity);
  EXPECT_TRUE(std::isnan(Sum(std::vector<double>{kInfinity, -kInfinity})));
}

TEST(SumTest, EveryLengthAddsEachValueOnce) {
  for (std::size_t n = 0; n < 40; ++n) {
    // powers of two add without rounding
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = std::ldexp(1.0, static_cast<int>(i));
    EXPECT_EQ(Sum(values), std::ldexp(1.0, static_cast<int>(n)) - 1.0) << n;
  }
}

TEST(AllWithinTest, FindsASingleValueBeyondTheLimitAnywhere) {
  for (std::size_t n = 1; n < 20; ++n) {
    std::vector<double> values(n, -2.0);
    EXPECT_TRUE(AllWithin(values, 2.0));
    for (std::size_t i = 0; i < n; ++i) {
      for (const double wrong : {2.1, -2.1, kInfinity, -kInfinity, std::nan("")}) {
        values[i] = wrong;
        EXPECT_FALSE(AllWithin(values, 2.0)) << n << " " << i << " " << wrong;
      }
      values[i] = 2.0;
    }
  }
  EXPECT_TRUE(AllWithin({}, 0.0));
}

TEST(MeanTest, ASingleValueIsItsOwnMean) { EXPECT_EQ(Mean(std::vector<double>{2.5}), 2.5); }

TEST(MeanDeathTest, EmptyInputAsserts) { EXPECT_DEATH(Mean({}), "broken invariant"); }

TEST(VarianceTest, MatchesHandComputation) {
  const std::vector<double> values = {1.0, 2.0, 4.0};
  EXPECT_DOUBLE_EQ(Variance(values), 7.0 / 3.0);
  EXPECT_DOUBLE_EQ(Variance(values, 0), 14.0 / 9.0);
  EXPECT_DOUBLE_EQ(StandardDeviation(values), std::sqrt(7.0 / 3.0));
  EXPECT_DOUBLE_EQ(StandardError(values), std::sqrt(7.0) / 3.0);
}

TEST(VarianceTest, ALargeOffsetDoesNotChangeIt) {
  EXPECT_DOUBLE_EQ(Variance(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 4}), 7.0 / 3.0);
}

TEST(VarianceDeathTest, NoDegreesOfFreedomAsserts) {
  EXPECT_DEATH(Variance(std::vector<double>{1.0}), "broken invariant");
}

TEST(QuantileTest, MatchesTheDefaultOfRAndNumpy) {
  const std::vector<double> values = {4.0, 1.0, 3.0, 2.0};
  EXPECT_EQ(Quantile(values, 0.0), 1.0);
  EXPECT_EQ(Quantile(values, 1.0), 4.0);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.1), 1.3);
  EXPECT_EQ(Quantile(std::vector<double>{7.0}, 0.3), 7.0);
}

TEST(QuantileTest, AgreesWithSorting) {
  const std::vector<double> values = Normals(101);
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 0; k <= 100; ++k) {
    EXPECT_NEAR(Quantile(values, static_cast<double>(k) / 100.0), sorted[k], 1e-12);
  }
}

TEST(LogSumExpTest, NeitherOverflowsNorUnderflows) {
  EXPECT_DOUBLE_EQ(LogSumExp(std::vector<double>{1000.0, 1000.0}), 1000.0 + std::log(2.0));
  EXPECT_DOUBLE_EQ(LogSumExp(std::vector<double>{-2000.0, -2000.0}), -2000.0 + std::log(2.0));
  EXPECT_DOUBLE_EQ(LogSumExp(std::vector<double>{0.0, -kInfinity}), 0.0);
}

TEST(LogSumExpTest, NoMassIsMinusInfinity) {
  EXPECT_EQ(LogSumExp({}), -kInfinity);
  EXPECT_EQ(LogSumExp(std::vector<double>{-kInfinity, -kInfinity}), -kInfinity);
  EXPECT_EQ(LogSumExp(std::vector<double>{0.0, kInfinity}), kInfinity);
}

TEST(NormalTest, QuantileMatchesTablesAndInvertsTheCdf) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_EQ(NormalCdf(0.0), 0.5);
  EXPECT_NEAR(NormalCdf(-37.0) / 5.7255712225245266e-300, 1.0, 1e-12);
  for (const double p : {1e-10, 0.01, 0.3, 0.9})
    EXPECT_NEAR(NormalCdf(NormalQuantile(p)) / p, 1.0, 1e-12);
}

TEST(StudentTTest, QuantileMatchesTablesAndClosedForm) {
  EXPECT_NEAR(StudentTQuantile(0.975, 9), 2.2621571628, 1e-10);
  EXPECT_NEAR(StudentTQuantile(0.9, 2), 0.8 / std::sqrt(2 * 0.9 * 0.1), 1e-12);
  // one degree of freedom is the Cauchy distribution
  EXPECT_NEAR(StudentTQuantile(0.9, 1), std::tan(0.4 * std::acos(-1.0)), 1e-12);
  EXPECT_NEAR(StudentTQuantile(0.975, 1e9), NormalQuantile(0.975), 1e-8);
}

}  // namespace
}  // namespace lfiw::core
