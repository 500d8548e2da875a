#include "experiments/omniglot/drawing_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace lfiw::experiments {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::array<std::int64_t, 4> kClasses = {0, 0, 1, 1};
constexpr WeightOptions kAsPublished = {
    .tempered = 0.0, .alpha = 1.0, .balance = WeightBalance::kNone};

TEST(WeighDrawings, PublishedWeightsAreTheRatiosToThePowerOfAlpha) {
  const std::array<double, 4> ratios = {0.0, 1.0, 2.0, 4.0};
  WeightOptions options = kAsPublished;
  options.alpha = 0.5;
  EXPECT_THAT(WeighDrawings(ratios, kClasses, options).log_weights,
              ElementsAre(0.0, 0.5, 1.0, 2.0));
}

// The classifier gives the second class a thousandth of the weight; its drawings are not a bit less
// frequent in truth.
TEST(WeighDrawings, BalancedWeightsSumToTheNumberOfEachClass) {
  const std::array<double, 4> ratios = {std::log(3.0), std::log(1.0), std::log(3e-3),
                                        std::log(1e-3)};
  WeightOptions options = kAsPublished;
  options.balance = WeightBalance::kClasses;
  const DrawingWeights weights = WeighDrawings(ratios, kClasses, options);
  for (const std::size_t first : {0, 2}) {
    EXPECT_NEAR(std::exp(weights.log_weights[first]), 1.5, 1e-12);
    EXPECT_NEAR(std::exp(weights.log_weights[first + 1]), 0.5, 1e-12);
  }
  EXPECT_NEAR(weights.ess, 16.0 / 5.0, 1e-12);
  EXPECT_NEAR(weights.max_weight, 1.5 / 4.0, 1e-12);
}

TEST(WeighDrawings, TemperedOnesAreWorthTheirShareAfterBalancing) {
  const std::array<double, 4> ratios = {9.0, 0.0, -20.0, -50.0};
  const DrawingWeights weights = WeighDrawings(ratios, kClasses, {.tempered = 0.9, .alpha = 1.0});
  EXPECT_NEAR(weights.ess, 0.9 * 4.0, 1e-6);
  EXPECT_LT(weights.alpha, 1.0);
}

TEST(WeighDrawings, AClassWithoutSupportKeepsWeightsOfZero) {
  const std::array<double, 4> ratios = {0.0, 0.0, kNever, kNever};
  WeightOptions options = kAsPublished;
  options.balance = WeightBalance::kClasses;
  EXPECT_THAT(WeighDrawings(ratios, kClasses, options).log_weights,
              ElementsAre(0.0, 0.0, kNever, kNever));
}

TEST(WeighDrawings, EqualRatiosWeighAllAlike) {
  const std::array<double, 4> ratios = {7.0, 7.0, 7.0, 7.0};
  const DrawingWeights weights = WeighDrawings(ratios, kClasses, {});
  EXPECT_THAT(weights.log_weights, Each(DoubleNear(0.0, 1e-12)));
  EXPECT_EQ(weights.alpha, 1.0);
}

TEST(WeighDrawings, WorthAllDrawingsTheyAreAllAlike) {
  const std::vector<double> ratios = {-9.0, 0.0, 2.0, 5.0};
  const DrawingWeights weights =
      WeighDrawings(ratios, std::vector<std::int64_t>{0, 0, 1, 1}, {.tempered = 1.0});
  EXPECT_EQ(weights.alpha, 0.0);
  EXPECT_EQ(weights.log_weights, std::vector<double>(4, 0.0));
  EXPECT_EQ(weights.ess, 4.0);
}

}  // namespace
}  // namespace lfiw::experiments
