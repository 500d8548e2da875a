#include "ope/rollouts/lfiw_horizons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kRowSteps = 4;

// Rewards N(0, 1) of the model where the truth is N(shift, 1): log-weights of each step are exact.
EstimatorInputs Inputs(double shift, double noise) {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({1, kRowSteps});
  in.lengths = {kRowSteps};
  in.terminated = {0};
  in.model_rewards = Array<double, 3>({10, 400, kRowSteps});
  in.model_log_weights = Array<double, 4>({10, 2, 400, kRowSteps});
  Stream stream(1, "rollouts");
  for (std::int64_t r = 0; r < 10; ++r) {
    for (std::int64_t i = 0; i < 400; ++i) {
      for (std::int64_t t = 0; t < kRowSteps; ++t) {
        const double reward = in.model_rewards(r, i, t) = stream.Normal();
        for (std::int64_t c = 0; c < 2; ++c) {
          in.model_log_weights(r, c, i, t) =
              shift * reward - 0.5 * shift * shift + noise * stream.Normal();
        }
      }
    }
  }
  return in;
}

Estimate EstimateBy(HorizonRule rule, const EstimatorInputs& in) {
  Estimand estimand;
  estimand.horizon = kRowSteps;
  return EstimateAcrossHorizons(in, estimand, {.rule = rule});
}

TEST(LfiwSlope, TakesAllWeightsWhereTheModelIsWrong) {
  const EstimatorInputs in = Inputs(0.3, 0.0);
  const Estimate estimate = EstimateBy(HorizonRule::kSlope, in);
  EXPECT_THAT(estimate.notes.back(), HasSubstr("100 % of H = 4"));
  EXPECT_NEAR(*estimate.value, 4 * 0.3, 3.0 * *estimate.standard_error);
  EXPECT_EQ(*estimate.value,
            *EstimateLfiw(in.model_rewards, in.model_log_weights, {}, HorizonRuleOptions().lfiw)
                 .horizons[kRowSteps]
                 .value);
}

TEST(LfiwSlope, TakesNoWeightsWhereTheyOnlyAddNoise) {
  const EstimatorInputs in = Inputs(0.0, 1.5);
  EXPECT_THAT(EstimateBy(HorizonRule::kSlope, in).notes.back(), HasSubstr("100 % of H = 0"));
}

TEST(LfiwMagic, LeavesTheModelWhereItIsWrongAndStaysWhereItIsRight) {
  EXPECT_NEAR(*EstimateBy(HorizonRule::kMagic, Inputs(0.3, 0.0)).value, 4 * 0.3, 0.15);
  const Estimate right = EstimateBy(HorizonRule::kMagic, Inputs(0.0, 1.5));
  const Estimate all = RunEstimator(HorizonRuleEstimators().front(), Inputs(0.0, 1.5), [] {
    Estimand estimand;
    estimand.horizon = kRowSteps;
    return estimand;
  }());
  EXPECT_LE(*right.standard_error, 1.01 * *all.standard_error);
}

TEST(LfiwOpera, BlendsForTheSmallestSpread) {
  const EstimatorInputs in = Inputs(0.0, 1.5);
  const Estimate blend = EstimateBy(HorizonRule::kOpera, in);
  const LfiwResult lfiw =
      EstimateLfiw(in.model_rewards, in.model_log_weights, {}, HorizonRuleOptions().lfiw);
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const LfiwEstimate& at : lfiw.horizons) {
    low = std::min(low, *at.value);
    high = std::max(high, *at.value);
  }
  EXPECT_GE(*blend.value, low);
  EXPECT_LE(*blend.value, high);
  EXPECT_LT(*blend.standard_error, 2.0 * *lfiw.horizons[0].standard_error);
}

TEST(HorizonRules, RefuseASingleRepetitionAndClassifier) {
  EstimatorInputs in = Inputs(0.0, 0.1);
  in.model_rewards = Array<double, 3>({1, 5, kRowSteps}, 1.0);
  in.model_log_weights = Array<double, 4>({1, 1, 5, kRowSteps});
  EXPECT_THAT(EstimateBy(HorizonRule::kSlope, in).reason, HasSubstr("second repetition"));
}

}  // namespace
}  // namespace lfiw::ope
