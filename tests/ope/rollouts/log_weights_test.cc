#include "ope/rollouts/log_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kNoLogWeight = -std::numeric_limits<double>::infinity();

TEST(Flatten, MultipliesLogWeights) {
  std::vector<double> weights = {2.0, -4.0, kNoLogWeight};
  Flatten(weights, 0.5);
  EXPECT_THAT(weights, ElementsAre(1.0, -2.0, kNoLogWeight));
}

TEST(Flatten, AlphaZeroMakesEveryWeightOneEvenZero) {
  std::vector<double> weights = {2.0, kNoLogWeight};
  Flatten(weights, 0.0);
  EXPECT_THAT(weights, Each(0.0));
}

TEST(ClipBelow, RaisesAndCountsSmallWeights) {
  std::vector<double> weights = {std::log(0.5), std::log(0.05), kNoLogWeight};
  EXPECT_EQ(ClipBelow(weights, 0.1), 2);
  EXPECT_THAT(weights, ElementsAre(std::log(0.5), std::log(0.1), std::log(0.1)));
}

TEST(ClipBelow, BetaZeroChangesNothing) {
  std::vector<double> weights = {1.0, kNoLogWeight};
  EXPECT_EQ(ClipBelow(weights, 0.0), 0);
  EXPECT_THAT(weights, ElementsAre(1.0, kNoLogWeight));
}

TEST(Summarize, EssIsNForEqualWeightsAndOneForASingleOne) {
  const WeightSummary equal = Summarize(std::vector<double>{700.0, 700.0, 700.0});
  EXPECT_EQ(equal.ess, 3.0);
  EXPECT_DOUBLE_EQ(equal.max_weight, 1.0 / 3.0);
  const WeightSummary single = Summarize(std::vector<double>{kNoLogWeight, -1e4, kNoLogWeight});
  EXPECT_EQ(single.ess, 1.0);
  EXPECT_EQ(single.max_weight, 1.0);
}

TEST(Summarize, WithoutSupportSaysSo) {
  const WeightSummary none = Summarize(std::vector<double>{kNoLogWeight, kNoLogWeight});
  EXPECT_FALSE(none.supported);
  EXPECT_EQ(none.ess, 0.0);
  EXPECT_EQ(none.max_weight, 0.0);
}

TEST(SelfNormalize, SumsToOneAndIgnoresACommonFactor) {
  std::vector<double> weights = {0.0, 1.0, -2.0}, shifted = {900.0, 901.0, 898.0};
  const WeightSummary a = SelfNormalize(weights), b = SelfNormalize(shifted);
  EXPECT_DOUBLE_EQ(weights[0] + weights[1] + weights[2], 1.0);
  EXPECT_DOUBLE_EQ(weights[1] / weights[0], std::exp(1.0));
  EXPECT_EQ(weights, shifted);
  EXPECT_EQ(a.ess, b.ess);
  std::vector<double> none = {kNoLogWeight, kNoLogWeight};
  EXPECT_FALSE(SelfNormalize(none).supported);
  EXPECT_THAT(none, Each(0.0));
}

// p = N(-2,1)/2 + N(2,1)/2 against its moment-matched q = N(0,5): the effective fraction of exact
// weights is 0.7605 (quadrature of p^2 / q). 3e5 draws: standard error about 0.001.
TEST(Summarize, EssOfExactMixtureRatiosApproachesItsPopulationValue) {
  Stream stream(1, "mixture");
  std::vector<double> log_weights;
  constexpr int kDraws = 300'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = std::sqrt(5.0) * stream.Normal();
    const std::vector<double> parts = {-0.5 * (x + 2) * (x + 2), -0.5 * (x - 2) * (x - 2)};
    log_weights.push_back(LogSumExp(parts) - std::log(2.0) + x * x / 10.0 + 0.5 * std::log(5.0));
  }
  EXPECT_NEAR(Summarize(log_weights).ess / kDraws, 0.7605, 0.004);
}

}  // namespace
}  // namespace lfiw::ope
