#include "ope/rollouts/importance_resampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

// Samples x of N(0, 1) and the log-ratios of N(shift, 1) to it, d x - d^2 / 2.
struct ShiftedNormal {
  ShiftedNormal(std::int64_t n, double shift, std::uint64_t seed) {
    Stream stream(seed, "shifted normal");
    for (std::int64_t i = 0; i < n; ++i) {
      x.push_back(stream.Normal());
      log_weights.push_back(shift * x.back() - shift * shift / 2.0);
    }
  }
  std::vector<double> x, log_weights;
};

TEST(EstimateLogPartition, IsTheLogOfTheMeanWeight) {
  const std::vector<double> logs = {std::log(1.0), std::log(3.0)};
  const LogPartition partition = EstimateLogPartition(logs);
  EXPECT_NEAR(partition.value, std::log(2.0), 1e-15);
  EXPECT_NEAR(*partition.standard_error, 1.0 / 2.0, 1e-15);
}

TEST(EstimateLogPartition, OfExactRatiosIsZeroAndShiftsWithTheirScale) {
  ShiftedNormal samples(20'000, 0.5, 1);
  const LogPartition exact = EstimateLogPartition(samples.log_weights);
  EXPECT_NEAR(exact.value, 0.0, 4.0 * *exact.standard_error);
  for (double& value : samples.log_weights) value += 2000.0;
  EXPECT_NEAR(EstimateLogPartition(samples.log_weights).value, exact.value + 2000.0, 1e-9);
}

TEST(EstimateLogPartition, WithoutSupportIsRefused) {
  EXPECT_THAT([] { EstimateLogPartition(std::vector<double>{kLogZero}); },
              ThrowsMessage<NumericError>(HasSubstr("does not exist")));
}

TEST(ResampledLogDensity, OfExactRatiosIsTheDensityOfTheData) {
  // base N(0, 1), data N(d, 1)
  constexpr double kShift = 0.5;
  const ShiftedNormal samples(20'000, kShift, 2);
  const LogPartition partition = EstimateLogPartition(samples.log_weights);
  const auto normal = [](double z) { return -0.5 * z * z - 0.5 * std::log(2.0 * M_PI); };
  for (const double x : {-1.0, 0.0, 2.0}) {
    const LogDensityEstimate density =
        ResampledLogDensity(normal(x), kShift * x - kShift * kShift / 2.0, partition);
    EXPECT_NEAR(density.value, normal(x - kShift), 4.0 * *density.standard_error);
  }
}

TEST(DrawSystematically, SingleDrawsAreInProportionToTheWeights) {
  const std::vector<double> logs = {std::log(1.0), kLogZero, std::log(3.0)};
  Stream stream(3, "draws");
  std::vector<double> counts(3, 0.0);
  for (int i = 0; i < 10'000; ++i) {
    counts[static_cast<std::size_t>(DrawSystematically(logs, 1, stream).front())] += 1.0;
  }
  // four standard errors of a share of 1/4
  EXPECT_NEAR(counts[0] / 10'000, 0.25, 4.0 * std::sqrt(0.25 * 0.75 / 10'000));
  EXPECT_EQ(counts[1], 0.0);
}

TEST(DrawSystematically, OneDrawOfManyCandidatesHasTheMeanOfTheData) {
  // the bias is O(1 / T); the mean of the base is 0, of the data 1
  std::vector<double> means;
  for (const std::int64_t candidates : {1, 4, 64}) {
    std::vector<double> draws;
    for (std::uint64_t i = 0; i < 4000; ++i) {
      const ShiftedNormal pool(candidates, 1.0, 100 + i);
      Stream stream(4, "draw", {i});
      draws.push_back(pool.x[static_cast<std::size_t>(
          DrawSystematically(pool.log_weights, 1, stream).front())]);
    }
    means.push_back(Mean(draws));
  }
  EXPECT_NEAR(means[0], 0.0, 0.07);
  EXPECT_GT(means[1], means[0] + 0.3);
  EXPECT_NEAR(means[2], 1.0, 0.1);
}

TEST(DrawSystematically, DrawsEachFloorOrCeilOfItsShare) {
  const ShiftedNormal pool(50, 1.0, 5);
  Stream stream(5, "systematic");
  const auto draws = DrawSystematically(pool.log_weights, 1000, stream);
  EXPECT_THAT(draws, SizeIs(1000));
  EXPECT_TRUE(std::ranges::is_sorted(draws));
  const double sum = LogSumExp(pool.log_weights);
  for (std::int64_t i = 0; i < 50; ++i) {
    const double share = 1000.0 * std::exp(pool.log_weights[static_cast<std::size_t>(i)] - sum);
    EXPECT_NEAR(static_cast<double>(std::ranges::count(draws, i)), share, 1.0);
  }
}

TEST(DrawSystematically, EqualWeightsDrawEachOnce) {
  Stream stream(6, "systematic");
  EXPECT_THAT(DrawSystematically(std::vector<double>(4, -3.0), 4, stream), ElementsAre(0, 1, 2, 3));
}

TEST(DrawSystematically, NeverDrawsAWeightOfZero) {
  std::vector<double> logs(10, kLogZero);
  logs[4] = -2000.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Stream stream(seed, "systematic");
    EXPECT_THAT(DrawSystematically(logs, 7, stream), Each(4));
  }
}

TEST(DrawSystematically, WithoutSupportIsRefused) {
  Stream stream(7, "systematic");
  EXPECT_THAT([&] { DrawSystematically(std::vector<double>{kLogZero}, 2, stream); },
              ThrowsMessage<NumericError>(HasSubstr("none can be drawn")));
}

TEST(CheckResampling, ExactRatiosMeetAllConditionsByTheirClosedForms) {
  constexpr double kShift = 0.5, kDivergence = kShift * kShift / 2.0;
  std::vector<double> data = ShiftedNormal(40'000, kShift, 8).log_weights;
  // under the data the log-ratio is d (x + d) - d^2 / 2
  for (double& value : data) value += kShift * kShift;
  const std::vector<double> model = ShiftedNormal(40'000, kShift, 9).log_weights;
  const ResamplingConditions conditions = CheckResampling(data, model);
  const auto expect = [](const ImprovementCheck& check, double margin) {
    EXPECT_TRUE(check.holds);
    EXPECT_NEAR(check.margin, margin, 4.0 * *check.standard_error);
  };
  expect(conditions.divergence, kDivergence);
  expect(conditions.mean_weight, kShift * kShift);
  expect(conditions.mean_log_weight, 2.0 * kDivergence);
}

TEST(CheckResampling, NecessaryConditionsFollowFromTheSufficientOne) {
  // Jensen's inequality holds for every pair of samples, not only in expectation
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto data = ShiftedNormal(5, 1.0, 1000 + seed).log_weights;
    const auto model = ShiftedNormal(5, 1.0, 2000 + seed).log_weights;
    const ResamplingConditions conditions = CheckResampling(data, model);
    EXPECT_GE(conditions.mean_weight.margin, conditions.divergence.margin);
    EXPECT_GE(conditions.mean_log_weight.margin, conditions.divergence.margin);
  }
}

TEST(CheckResampling, ZerosAreReasonsNotNumbers) {
  const ResamplingConditions conditions =
      CheckResampling(std::vector<double>{0.0, kLogZero}, std::vector<double>{0.0});
  EXPECT_FALSE(conditions.divergence.reason.empty());
  EXPECT_FALSE(conditions.mean_log_weight.reason.empty());
  EXPECT_NEAR(conditions.mean_weight.margin, std::log(0.5), 1e-15);
  EXPECT_FALSE(CheckResampling({}, std::vector<double>{0.0}).mean_weight.reason.empty());
}

}  // namespace
}  // namespace lfiw::ope
