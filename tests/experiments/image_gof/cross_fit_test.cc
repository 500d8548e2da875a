#include "experiments/image_gof/cross_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/parallel.h"
#include "ope/rollouts/importance_resampling.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
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

TEST(WeightsOfNewSamples, AreTheMeanWeightOrThatOfOneClassifier) {
  const MatrixF real = NormalRows(100, 3, 1, 1.0f), generated = NormalRows(100, 3, 2);
  const CrossFit fit = FitByFolds(real, generated, Small(), 1, {});
  ASSERT_EQ(fit.classifiers.size(), 3u);
  const MatrixF features = NormalRows(9, 3, 5);
  std::vector<std::vector<double>> each(3, std::vector<double>(9));
  for (std::size_t k = 0; k < 3; ++k) fit.classifiers[k].LogRatios(features, each[k]);
  const auto averaged = AveragedLogWeights(fit.classifiers, features);
  const auto dealt = DealtLogWeights(fit.classifiers, features, 1);
  std::vector<int> used(3);
  for (std::size_t i = 0; i < 9; ++i) {
    double weight = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      weight += std::exp(each[k][i]) / 3.0;
      // products of one row differ in rounding from those of many
      used[k] += std::abs(dealt[i] - each[k][i]) < 1e-5 ? 1 : 0;
    }
    EXPECT_NEAR(averaged[i], std::log(weight), 1e-9);
  }
  EXPECT_EQ(used, std::vector<int>({3, 3, 3}));
}

TEST(CrossFitSteps, CountsThoseOfAllFolds) {
  GofClassifierOptions options = Small();
  const CrossFit fit = FitByFolds(NormalRows(100, 3, 1), NormalRows(130, 3, 2), options, 1, {});
  std::int64_t steps = 0;
  for (const FitSummary& summary : fit.fits) steps += summary.history.steps.back();
  EXPECT_EQ(CrossFitSteps(100, 130, options), steps);
}

}  // namespace
}  // namespace lfiw::experiments
