#include "ope/judgement/psis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/rng.h"

namespace lfiw::ope {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

std::vector<double> SortedDraws(double k, int count, std::uint64_t seed) {
  const GeneralizedPareto truth{.k = k, .sigma = 1.0};
  Stream stream(seed, "pareto");
  std::vector<double> draws;
  while (static_cast<int>(draws.size()) < count) {
    const double x = truth.Quantile(stream.Uniform());
    if (x > 0.0) draws.push_back(x);
  }
  std::sort(draws.begin(), draws.end());
  return draws;
}

// Log-weights whose tail has the given shape.
std::vector<double> ParetoLogWeights(double k, int count, std::uint64_t seed) {
  Stream stream(seed, "log weights");
  std::vector<double> result;
  for (int i = 0; i < count; ++i) result.push_back(-k * std::log1p(-stream.Uniform()));
  return result;
}

class FitToDraws : public testing::TestWithParam<double> {};

TEST_P(FitToDraws, RecoversShapeAndScaleAtTwoHundredThousand) {
  const double k = GetParam();
  const GeneralizedPareto fit = FitGeneralizedPareto(SortedDraws(k, 200'000, 5));
  EXPECT_NEAR(fit.k, k, k < 1.0 ? 0.01 : 0.025);
  EXPECT_NEAR(fit.sigma, 1.0, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Shapes, FitToDraws, testing::Values(-1.0, 0.0, 0.3, 1.0, 2.0));

TEST(FitGeneralizedPareto, ScalesWithTheData) {
  std::vector<double> draws = SortedDraws(0.4, 500, 1);
  const GeneralizedPareto fit = FitGeneralizedPareto(draws);
  for (double& x : draws) x *= 1e-8;
  const GeneralizedPareto scaled = FitGeneralizedPareto(draws);
  EXPECT_NEAR(scaled.k, fit.k, 1e-9);
  EXPECT_NEAR(scaled.sigma, fit.sigma * 1e-8, 1e-16);
}

TEST(FitGeneralizedPareto, EqualExcessesHaveNoTail) {
  const GeneralizedPareto fit = FitGeneralizedPareto(std::vector<double>(9, 0.7));
  EXPECT_EQ(fit.k, -1.0);
  EXPECT_EQ(fit.sigma, 0.0);
}

TEST(TailSize, IsTheSmallerOfAFifthAndThreeRoots) {
  EXPECT_EQ(TailSize(100), 20);
  EXPECT_EQ(TailSize(1000), 95);
  EXPECT_EQ(TailSize(25), 5);
}

TEST(KhatThreshold, FollowsTheSampleSize) {
  EXPECT_DOUBLE_EQ(KhatThreshold(100), 0.5);
  EXPECT_NEAR(KhatThreshold(1000), 0.6667, 1e-4);
  EXPECT_NEAR(KhatThreshold(2000), 0.6971, 1e-4);
  EXPECT_DOUBLE_EQ(KhatThreshold(1'000'000), 0.7);
  EXPECT_EQ(KhatThreshold(1), 0.0);
}

// The tail of 1e5 weights has 949 points: standard error about (1 + k) / 31.
TEST(FitTail, FindsTheShapeOfPowerTails) {
  for (const double k : {0.3, 0.7, 1.5}) {
    const TailFit fit = FitTail(ParetoLogWeights(k, 100'000, 3));
    ASSERT_TRUE(fit.khat.has_value());
    EXPECT_NEAR(*fit.khat, k, 3.0 * (1.0 + k) / 31.0);
  }
}

TEST(FitTail, IgnoresOrderAndACommonFactor) {
  std::vector<double> weights = ParetoLogWeights(0.6, 200, 4);
  const double khat = *FitTail(weights).khat;
  std::reverse(weights.begin(), weights.end());
  EXPECT_EQ(*FitTail(weights).khat, khat);
  for (double& weight : weights) weight += 1e4;
  EXPECT_NEAR(*FitTail(weights).khat, khat, 1e-9);
}

TEST(FitTail, EqualWeightsAreEmptyWithAReason) {
  const TailFit fit = FitTail(std::vector<double>(100, 3.0));
  EXPECT_EQ(fit.status, TailStatus::kAllEqual);
  EXPECT_FALSE(fit.khat.has_value());
  EXPECT_EQ(TailReason(fit.status), "the largest weights are equal");
}

TEST(FitTail, FewerThanFivePointsAreEmptyWithAReason) {
  const TailFit fit = FitTail(ParetoLogWeights(0.5, 20, 1));
  EXPECT_EQ(fit.status, TailStatus::kTooFewPoints);
  EXPECT_EQ(TailReason(fit.status), "fewer than 5 weights in the tail");
  // 97 zero weights: the tail has three points above its lower end
  std::vector<double> sparse(100, kLogZero);
  sparse[3] = 0.0;
  sparse[4] = 1.0;
  sparse[5] = 2.0;
  EXPECT_EQ(FitTail(sparse).status, TailStatus::kTooFewPoints);
}

TEST(FitTail, TiesWithTheLowerEndAreNotPartOfTheTail) {
  // as after clipping: most weights at the bound, ten above it
  std::vector<double> weights(100, 0.0);
  const std::vector<double> draws = SortedDraws(0.2, 10, 8);
  for (int i = 0; i < 10; ++i) weights[static_cast<std::size_t>(i)] = std::log1p(draws[i]);
  const double expected = (FitGeneralizedPareto(draws).k * 10.0 + 5.0) / 20.0;
  EXPECT_NEAR(*FitTail(weights).khat, expected, 1e-9);
}

TEST(FitTail, WeightsHundredsOfNatsApartHaveAHugeFiniteShape) {
  std::vector<double> weights;
  for (int i = 0; i < 100; ++i) weights.push_back(-100.0 * i);
  const TailFit fit = FitTail(weights);
  ASSERT_TRUE(fit.khat.has_value());
  EXPECT_TRUE(std::isfinite(*fit.khat));
  EXPECT_GT(*fit.khat, 10.0);
}

TEST(FitLargest, AgreesWithTheFitToAllWeights) {
  std::vector<double> weights = ParetoLogWeights(0.5, 300, 6);
  const double khat = *FitTail(weights).khat;
  std::sort(weights.begin(), weights.end(), std::greater<>());
  weights.resize(static_cast<std::size_t>(TailSize(300)) + 30);
  EXPECT_EQ(*FitLargest(weights, 300).khat, khat);
}

TEST(SmoothTail, KeepsOrderBoundsTheMaximumAndLeavesTheRest) {
  const std::vector<double> raw = ParetoLogWeights(0.8, 400, 7);
  std::vector<double> smooth = raw;
  const TailFit fit = SmoothTail(smooth);
  EXPECT_EQ(*fit.khat, *FitTail(raw).khat);
  EXPECT_LE(*std::max_element(smooth.begin(), smooth.end()),
            *std::max_element(raw.begin(), raw.end()));
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    changed += smooth[i] != raw[i];
    for (std::size_t j = 0; j < raw.size(); ++j) {
      if (raw[i] < raw[j]) {
        EXPECT_LE(smooth[i], smooth[j]);
      }
    }
  }
  EXPECT_LE(changed, TailSize(400));
  EXPECT_GT(changed, TailSize(400) - 5);
}

TEST(SmoothTail, LeavesEqualWeightsAlone) {
  std::vector<double> weights(100, 1.0);
  EXPECT_FALSE(SmoothTail(weights).khat.has_value());
  EXPECT_EQ(weights, std::vector<double>(100, 1.0));
}

}  // namespace
}  // namespace lfiw::ope
