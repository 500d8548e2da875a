#include "core/logs/regressions.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/rng.h"

namespace lfiw::core {
namespace {

// Columns: x, noise, 3 x, x + noise, a constant.
Regressions Fits() {
  constexpr Eigen::Index kRows = 600;
  Stream stream(1, "regressions");
  MatrixD columns(kRows, 5);
  std::vector<int> folds;
  for (Eigen::Index i = 0; i < kRows; ++i) {
    const double x = stream.Normal(), noise = stream.Normal();
    columns.row(i) << x, noise, 3.0 * x, x + noise, 7.0;
    folds.push_back(static_cast<int>(i) % Regressions::kFolds);
  }
  return Regressions(std::move(columns), folds);
}

TEST(Regressions, LeaveWhatTheFeaturesDoNotTell) {
  const Regressions fits = Fits();
  const VectorD totals = fits.Totals({2, 3});
  const Residuals rest = fits.Fit({0}, {2, 3});
  EXPECT_NEAR(rest.held_out[0] / totals[0], 0.0, 1e-6);
  EXPECT_NEAR(rest.held_out[1] / totals[1], 0.5, 0.05);
  EXPECT_LE(rest.in_sample[1], rest.held_out[1]);
  EXPECT_NEAR(fits.Fit(ColumnList{0} + ColumnList{1}, {3}).held_out[0] / totals[1], 0.0, 1e-6);
}

TEST(Regressions, AConstantTellsNothing) {
  const Regressions fits = Fits();
  EXPECT_FALSE(fits.Varies(4));
  EXPECT_DOUBLE_EQ(fits.Totals({4})[0], 0.0);
  EXPECT_NEAR(fits.Fit({4}, {2}).in_sample[0], fits.Totals({2})[0], 1e-9);
}

}  // namespace
}  // namespace lfiw::core
