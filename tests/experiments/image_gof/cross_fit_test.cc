#include "experiments/image_gof/cross_fit.h"

#include <gtest/gtest.h>

#include "core/parallel.h"
#include "ope/importance_resampling.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw {
namespace {

GofClassifierOptions Small() {
  GofClassifierOptions options;
  options.folds = 3;
  options.epochs = 4;
  options.fit.network.width = 32;
  return options;
}

TEST(FitByFolds, LearnsTheLogRatioOfHeldOutRows) {
  // N(0.5, I) against N(0, I) in 2 dimensions: log w = 0.5 (x1 + x2) - 0.25
  const MatrixF real = NormalRows(3000, 2, 1, 0.5f), generated = NormalRows(4000, 2, 2);
  const CrossFit fit = FitByFolds(real, generated, Small(), 1, {});
  double error = 0.0;
  for (Eigen::Index i = 0; i < generated.rows(); ++i) {
    const double exact = 0.5 * static_cast<double>(generated.row(i).sum()) - 0.25;
    const double gap = fit.generated[static_cast<std::size_t>(i)] - exact;
    error += gap * gap / static_cast<double>(generated.rows());
  }
  EXPECT_LT(error, 0.03);
  EXPECT_TRUE(CheckResampling(fit.real, fit.generated).divergence.holds);
  EXPECT_EQ(fit.fits.size(), 3u);
}

TEST(FitByFolds, NoRowIsWeighedByAClassifierThatSawIt) {
  // rows that can be told apart only by heart: a classifier of the same rows would do so
  GofClassifierOptions options = Small();
  options.epochs = 60;
  options.fit.network.width = 256;
  const CrossFit fit = FitByFolds(NormalRows(60, 40, 1), NormalRows(60, 40, 2), options, 1, {});
  double right = 0.0;
  for (std::size_t i = 0; i < 60; ++i) {
    right += (fit.real[i] > 0.0 ? 1.0 : 0.0) + (fit.generated[i] < 0.0 ? 1.0 : 0.0);
  }
  // 4 standard deviations of 120 coins
  EXPECT_NEAR(right / 120.0, 0.5, 4.0 * 0.0457);
}

TEST(FitByFolds, IsTheSameForAnyNumberOfThreads) {
  GofClassifierOptions options = Small();
  options.epochs = 1;
  const MatrixF real = NormalRows(100, 3, 1), generated = NormalRows(130, 3, 2);
  SetThreads(1);
  const CrossFit one = FitByFolds(real, generated, options, 1, {});
  SetThreads(3);
  const CrossFit three = FitByFolds(real, generated, options, 1, {});
  EXPECT_EQ(one.real, three.real);
  EXPECT_EQ(one.generated, three.generated);
}

TEST(CrossFitSteps, CountsThoseOfAllFolds) {
  GofClassifierOptions options = Small();
  const CrossFit fit = FitByFolds(NormalRows(100, 3, 1), NormalRows(130, 3, 2), options, 1, {});
  std::int64_t steps = 0;
  for (const FitSummary& summary : fit.fits) steps += summary.history.steps.back();
  EXPECT_EQ(CrossFitSteps(100, 130, options), steps);
}

}  // namespace
}  // namespace lfiw
