#include "ope/rollouts/rollout_spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

// Effects of rows and columns around 5.
Array<double, 2> Effects(std::int64_t rows, std::int64_t columns, double row_sd, double column_sd,
                         std::uint64_t seed) {
  Stream stream(seed, "effects");
  std::vector<double> row, column;
  for (std::int64_t r = 0; r < rows; ++r) row.push_back(row_sd * stream.Normal());
  for (std::int64_t c = 0; c < columns; ++c) column.push_back(column_sd * stream.Normal());
  Array<double, 2> out({rows, columns});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      out(r, c) = 5.0 + row[static_cast<std::size_t>(r)] + column[static_cast<std::size_t>(c)];
    }
  }
  return out;
}

TEST(SpreadOf, IsTheStandardErrorOfRepetitionsWithOneClassifier) {
  const Array<double, 2> estimates = Effects(8, 1, 1.0, 0.0, 1);
  const RolloutSpread spread = *SpreadOf(estimates);
  EXPECT_DOUBLE_EQ(spread.standard_error, StandardError(estimates.flat()));
  EXPECT_NEAR(spread.degrees, 7.0, 1e-12);
  EXPECT_EQ(spread.covers, "rollouts, given the fitted model");
}

TEST(SpreadOf, HoldsTheTruthAsOftenAsItSays) {
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int k = 0; k < kTrials; ++k) {
    const Array<double, 2> estimates = Effects(5, 4, 1.0, 2.0, static_cast<std::uint64_t>(k));
    const RolloutSpread spread = *SpreadOf(estimates);
    const double t = StudentTQuantile(0.975, spread.degrees);
    if (std::abs(Mean(estimates.flat()) - 5.0) <= t * spread.standard_error) ++covered;
  }
  // one standard deviation of the share is 0.5 points
  EXPECT_NEAR(covered, 0.95 * kTrials, 0.02 * kTrials);
}

TEST(SpreadOf, NeedsTwoOfSomething) { EXPECT_FALSE(SpreadOf(Array<double, 2>({1, 1}, 3.0))); }

TEST(SpreadOf, IsZeroWhereAllAgree) {
  const RolloutSpread spread = *SpreadOf(Array<double, 2>({3, 2}, 3.0));
  EXPECT_EQ(spread.standard_error, 0.0);
  EXPECT_EQ(spread.degrees, 2.0);
}

TEST(SpreadCovariance, HasTheVariancesOnItsDiagonalAndIsBilinear) {
  const Array<double, 2> a = Effects(6, 3, 1.0, 2.0, 1), b = Effects(6, 3, 3.0, 1.0, 2);
  Array<double, 3> estimates({3, 6, 3});
  for (std::int64_t r = 0; r < 6; ++r) {
    for (std::int64_t c = 0; c < 3; ++c) {
      estimates(0, r, c) = a(r, c);
      estimates(1, r, c) = b(r, c);
      estimates(2, r, c) = a(r, c) + 2.0 * b(r, c);
    }
  }
  const Array<double, 2> covariance = SpreadCovariance(estimates);
  const double se = SpreadOf(a)->standard_error;
  EXPECT_NEAR(covariance(0, 0), se * se, 1e-12);
  EXPECT_NEAR(covariance(2, 2), covariance(0, 0) + 4.0 * covariance(0, 1) + 4.0 * covariance(1, 1),
              1e-12);
  EXPECT_EQ(covariance(0, 1), covariance(1, 0));
}

}  // namespace
}  // namespace lfiw::ope
