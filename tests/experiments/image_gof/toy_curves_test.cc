#include "experiments/image_gof/toy_curves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/parallel.h"

namespace lfiw::experiments {
namespace {

// Curves of the exact ratio to N(0, 5), the Gaussian with the mixture's moments.
ToyCurves ExactCurves(const ToyGaussianConfig& config) {
  ToyCurves curves{.n = 2, .model_mean = 0.0, .model_deviation = std::sqrt(5.0)};
  for (const double x : GridPoints(config.grid)) {
    curves.estimate.push_back(MixtureLogDensity(config.mixture, x) -
                              NormalLogDensity(0.0, std::sqrt(5.0), x));
  }
  curves.low = curves.high = curves.estimate;
  curves.held_out_data = curves.held_out_model = {0.0, 0.0};
  return curves;
}

TEST(ToyCurves, TheOptimalProbabilityHasItsKnownValues) {
  // 1/2 N(-2, 1) + 1/2 N(2, 1) against N(0, 5)
  const MixtureOptions mixture;
  const auto optimal = [&](double x) {
    const double log_ratio =
        MixtureLogDensity(mixture, x) - NormalLogDensity(0.0, std::sqrt(5.0), x);
    return 1.0 / (1.0 + std::exp(-log_ratio));
  };
  EXPECT_NEAR(optimal(0.0), 0.2323, 5e-5);
  EXPECT_NEAR(optimal(2.0), 0.6253, 5e-5);
}

TEST(SummarizeToy, ExactRatiosTakeTheWholeDivergenceAway) {
  ToyGaussianConfig config;
  config.grid = {.low = -20.0, .high = 20.0, .points = 2001};
  const ToySummary summary = SummarizeToy(config, ExactCurves(config));
  EXPECT_NEAR(summary.model_divergence, 0.1720, 5e-5);
  EXPECT_NEAR(summary.resampled_divergence, 0.0, 1e-9);
  EXPECT_NEAR(summary.rms_gap, 0.0, 1e-12);
  EXPECT_NEAR(summary.coverage, 1.0, 1e-6);
}

TEST(DrawMixture, HasTheMixturesMoments) {
  Stream stream(1, "draws");
  double sum = 0.0, squares = 0.0;
  constexpr int kDraws = 40'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = DrawMixture({}, stream);
    sum += x / kDraws;
    squares += x * x / kDraws;
  }
  // four standard errors: sqrt(5 / 40,000) and sqrt(18 / 40,000)
  EXPECT_NEAR(sum, 0.0, 0.045);
  EXPECT_NEAR(squares, 5.0, 0.085);
}

TEST(FitToyCurves, ApproachTheOptimumAndItsDivergenceAsPointsGrow) {
  ToyGaussianConfig config;
  config.bootstraps = 20;
  const ToySummary few = SummarizeToy(config, FitToyCurves(config, 50, config.seed, nullptr));
  const ToySummary many = SummarizeToy(config, FitToyCurves(config, 4000, config.seed, nullptr));
  EXPECT_LT(many.rms_gap, 0.05);
  EXPECT_LT(many.rms_gap, few.rms_gap);
  EXPECT_LT(many.mean_width, few.mean_width);
  EXPECT_LT(many.resampled_divergence, 0.03);
  EXPECT_TRUE(many.conditions.divergence.holds);
  // the check estimates the true fall of the divergence
  EXPECT_NEAR(many.conditions.divergence.margin, many.model_divergence - many.resampled_divergence,
              4.0 * *many.conditions.divergence.standard_error);
}

TEST(FitToyCurves, AreTheSameBytesForAnyNumberOfThreads) {
  ToyGaussianConfig config;
  config.bootstraps = 6;
  config.classifier.fit.steps = 20;
  SetThreads(1);
  const ToyCurves one = FitToyCurves(config, 30, config.seed, nullptr);
  SetThreads(3);
  const ToyCurves three = FitToyCurves(config, 30, config.seed, nullptr);
  EXPECT_EQ(one.estimate, three.estimate);
  EXPECT_EQ(one.low, three.low);
  EXPECT_EQ(one.held_out_model, three.held_out_model);
}

}  // namespace
}  // namespace lfiw::experiments
