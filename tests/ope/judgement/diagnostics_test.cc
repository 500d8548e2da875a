#include "ope/judgement/diagnostics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace lfiw::ope {
namespace {

// Exact log-ratios of N(d, 1) to N(0, 1) at draws of N(0, 1), d(t) = slope * t.
Array<double, 4> ShiftLogRatios(double slope, double offset) {
  Array<double, 4> log_weights({2, 3, 500, 4});
  Stream stream(2, "shift");
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t i = 0; i < 500; ++i) {
      for (std::int64_t t = 0; t < 4; ++t) {
        const double x = stream.Normal(), d = slope * static_cast<double>(t);
        for (std::int64_t c = 0; c < 3; ++c) {
          log_weights(r, c, i, t) = d * x - d * d / 2.0 + offset;
        }
      }
    }
  }
  return log_weights;
}

TEST(MeanWeights, OfExactRatiosIsOneWithinItsStandardError) {
  for (const MeanWeight& step : MeanWeights(ShiftLogRatios(0.2, 0.0))) {
    EXPECT_TRUE(step.supported);
    EXPECT_LE(std::abs(step.log_mean), 4.0 * *step.log_stderr + 1e-15) << step.step;
  }
}

TEST(MeanWeights, StandardErrorCountsRolloutsNotClassifiers) {
  // w has mean 1 and variance e^{d^2} - 1 with d = 0.6 at step 3; 1000 independent rollouts
  const double expected = std::sqrt(std::expm1(0.36) / 1000.0);
  EXPECT_NEAR(*MeanWeights(ShiftLogRatios(0.2, 0.0))[3].log_stderr, expected, 0.15 * expected);
}

TEST(MeanWeights, ACommonFactorShowsAsItsLog) {
  const auto steps = MeanWeights(ShiftLogRatios(0.2, 900.0));
  EXPECT_NEAR(steps[2].log_mean, 900.0, 0.1);
  EXPECT_EQ(MeanWeights(ShiftLogRatios(0.0, -3.0))[1].log_mean, -3.0);
}

TEST(WorstMeanWeight, IsTheStepFurthestBeyondItsNoise) {
  const std::vector<MeanWeight> steps = {
      {.step = 0, .supported = true, .log_mean = 0.5, .log_stderr = 0.4},
      {.step = 1, .supported = true, .log_mean = -0.3, .log_stderr = 0.01},
      {.step = 2, .supported = false}};
  EXPECT_EQ(WorstMeanWeight(steps)->step, 1);
  EXPECT_FALSE(WorstMeanWeight({}).has_value());
}

TEST(LargestReliableHorizon, StopsBeforeTheFirstHeavyTail) {
  LfiwResult result;
  result.episodes = 100;  // threshold 0.5
  for (const double khat : {0.0, 0.2, 0.45, 0.6, 0.3}) {
    LfiwEstimate estimate;
    estimate.horizon = static_cast<std::int64_t>(result.horizons.size());
    if (estimate.horizon > 0) estimate.khat = khat;
    result.horizons.push_back(estimate);
  }
  EXPECT_EQ(LargestReliableHorizon(result), 2);
  result.horizons[1].khat.reset();
  result.horizons[1].khat_reason = "fewer than 5 weights in the tail";
  EXPECT_EQ(LargestReliableHorizon(result), 0);
}

// For the exact ratio E_data[log w] is the divergence KL(data | model) and log E_model[w] is 0.
TEST(CheckImprovement, ExactRatiosImproveByTheDivergence) {
  Stream stream(3, "kl");
  std::vector<double> data, model;
  constexpr double kShift = 0.5;
  for (int i = 0; i < 20'000; ++i) {
    data.push_back(kShift * (stream.Normal() + kShift) - kShift * kShift / 2.0);
    model.push_back(kShift * stream.Normal() - kShift * kShift / 2.0);
  }
  const ImprovementCheck check = CheckImprovement(data, model);
  EXPECT_TRUE(check.holds);
  EXPECT_NEAR(check.margin, kShift * kShift / 2.0, 4.0 * *check.standard_error);
  // weights of the inverted ratio make the model worse
  for (double& value : data) value = -value;
  for (double& value : model) value = -value;
  EXPECT_FALSE(CheckImprovement(data, model).holds);
}

// Ten copies of every episode's rows say no more than one.
TEST(CheckImprovement, RowsThatShareAnEpisodeAreNoIndependentEvidence) {
  Stream stream(4, "clusters");
  std::vector<double> data, model, data_once, model_once;
  std::vector<std::int64_t> episodes, once;
  for (std::int64_t e = 0; e < 200; ++e) {
    const double real = 0.1 + 0.3 * stream.Normal(), generated = 0.3 * stream.Normal();
    data_once.push_back(real);
    model_once.push_back(generated);
    once.push_back(e);
    for (int k = 0; k < 10; ++k) {
      data.push_back(real);
      model.push_back(generated);
      episodes.push_back(e);
    }
  }
  const double all = *CheckImprovement(data, model, episodes).standard_error;
  EXPECT_NEAR(all, *CheckImprovement(data_once, model_once, once).standard_error, 1e-12);
  EXPECT_NEAR(all, *CheckImprovement(data_once, model_once).standard_error, 0.1 * all);
  EXPECT_LT(*CheckImprovement(data, model).standard_error, 0.4 * all);
  const std::vector<std::int64_t> same(data.size(), 0);
  EXPECT_FALSE(CheckImprovement(data, model, same).standard_error);
}

TEST(CheckImprovement, ConstantWeightsHoldWithMarginZero) {
  const std::vector<double> twos(5, std::log(2.0));
  const ImprovementCheck check = CheckImprovement(twos, twos);
  EXPECT_TRUE(check.holds);
  EXPECT_EQ(check.margin, 0.0);
}

TEST(CheckImprovement, AZeroWeightOnRealDataIsAReasonNotANumber) {
  const ImprovementCheck check =
      CheckImprovement(std::vector<double>{0.0, -HUGE_VAL}, std::vector<double>{0.0});
  EXPECT_FALSE(check.holds);
  EXPECT_EQ(check.reason, "a real transition has weight 0");
  EXPECT_FALSE(CheckImprovement({}, std::vector<double>{0.0}).reason.empty());
}

}  // namespace
}  // namespace lfiw::ope
