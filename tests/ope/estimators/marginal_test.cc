#include "ope/estimators/marginal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/ope/scalar_log.h"
#include "tests/ope/two_state_log.h"

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array<double, 2> kMarginalPolicy = {0.8, 0.3};
constexpr std::int64_t kMarginalHorizon = TwoStates::kHorizon;

// The system written out in full, with its exact marginal ratios at each step under "mwl" and
// "dual_dice" and, in place of them, those of the discounted visitation under "stationary".
EstimatorInputs TwoStateInputs(double discount) {
  const TwoStates system(kMarginalPolicy);
  TwoStates::Table visited{}, logged{};
  for (std::int64_t t = 0; t < 200; ++t) {
    for (const std::size_t s : {0u, 1u}) {
      for (const std::size_t a : {0u, 1u}) {
        visited[s][a] += (1.0 - discount) * std::pow(discount, t) * system.Visitation(t)[s][a];
        if (t < kMarginalHorizon)
          logged[s][a] += TwoStates::LoggedVisitation(t)[s][a] / kMarginalHorizon;
      }
    }
  }
  const EpisodeBatch log = TwoStates::Log();
  const std::int64_t n = log.episodes();
  EstimatorInputs in;
  in.rewards = Array<double, 2>({n, kMarginalHorizon});
  in.lengths.assign(static_cast<std::size_t>(n), kMarginalHorizon);
  in.terminated.assign(static_cast<std::size_t>(n), 0);
  Array<double, 2> weights({n, kMarginalHorizon}), log_ratios = weights, stationary = weights;
  for (std::int64_t e = 0; e < n; ++e) {
    for (std::int64_t t = 0; t < kMarginalHorizon; ++t) {
      const std::size_t s = log.observations(log.ObservationRow(e, t), 0) > 0.5f ? 1 : 0;
      const std::size_t a = log.actions(e * kMarginalHorizon + t, 0) > 0.5f ? 1 : 0;
      in.rewards(e, t) = log.rewards[static_cast<std::size_t>(e * kMarginalHorizon + t)];
      weights(e, t) = system.Visitation(t)[s][a] / TwoStates::LoggedVisitation(t)[s][a];
      log_ratios(e, t) = std::log(weights(e, t));
      stationary(e, t) = visited[s][a] / logged[s][a];
    }
  }
  in.weights["mwl"] = weights;
  in.weights["stationary"] = stationary;
  in.log_ratios["dual_dice"] = log_ratios;
  return in;
}

Estimate Evaluate(const EstimatorInputs& in, const Estimand& estimand,
                  const MarginalOptions& options) {
  const Estimator estimator{.name = "test",
                            .summary = "",
                            .horizons = HorizonSupport::kBoth,
                            .needs = {options.weights},
                            .estimate = [&](const EstimatorInputs& inputs, const Estimand& asked) {
                              return EstimateMarginal(inputs, asked, options);
                            }};
  return RunEstimator(estimator, in, estimand);
}

TEST(EstimateMarginal, IsExactWithExactRatiosOverAFiniteHorizon) {
  const EstimatorInputs in = TwoStateInputs(0.9);
  const double exact = TwoStates(kMarginalPolicy).Value(kMarginalHorizon, 0.9);
  for (const std::string name : {"mwl", "dual_dice"}) {
    for (const WeightNormalization how : {WeightNormalization::kSelf, WeightNormalization::kNone}) {
      const Estimate estimate = Evaluate(in, FiniteHorizon(kMarginalHorizon, 0.9), {name, how});
      EXPECT_NEAR(estimate.value.value(), exact, 1e-10);
      EXPECT_GT(estimate.standard_error.value(), 0.0);
      EXPECT_THAT(estimate.notes,
                  ElementsAre("mean weight 1, between 1 and 1 over steps, expected 1"));
    }
  }
}

TEST(EstimateMarginal, IsExactWithExactRatiosOverAnInfiniteHorizon) {
  const EstimatorInputs in = TwoStateInputs(0.8);
  const double exact = TwoStates(kMarginalPolicy).Value(200, 0.8);  // 0.8^200 < 1e-19
  for (const WeightNormalization how : {WeightNormalization::kSelf, WeightNormalization::kNone}) {
    Estimand estimand = InfiniteHorizon(0.8);
    const Estimate estimate = Evaluate(in, estimand, {"stationary", how});
    EXPECT_NEAR(estimate.value.value(), exact, 1e-10);
    EXPECT_THAT(estimate.notes, ElementsAre("mean weight 1, expected 1"));
    estimand.scale = ValueScale::kNormalized;
    EXPECT_NEAR(Evaluate(in, estimand, {"stationary", how}).value.value(), 0.2 * exact, 1e-10);
  }
}

TEST(EstimateMarginal, IsScaledAsAskedAndFreeOfTheScaleOfTheWeightsWhenSelfNormalized) {
  EstimatorInputs in = TwoStateInputs(0.9);
  for (double& w : in.weights["mwl"].flat()) w *= 3.0;
  Estimand estimand = FiniteHorizon(kMarginalHorizon, 0.9);
  estimand.scale = ValueScale::kNormalized;
  const double exact = TwoStates(kMarginalPolicy).Value(kMarginalHorizon, 0.9) / (1.0 + 0.9 + 0.81);
  const Estimate estimate = Evaluate(in, estimand, {});
  EXPECT_NEAR(estimate.value.value(), exact, 1e-10);
  EXPECT_THAT(estimate.notes, ElementsAre(HasSubstr("mean weight 3,")));
  EXPECT_NEAR(Evaluate(in, estimand, {"mwl", WeightNormalization::kNone}).value.value(),
              3.0 * exact, 1e-10);
}

// Two episodes of at most two steps with reward 1 at each, the first of one step.
EstimatorInputs TwoEpisodes(std::uint8_t terminated) {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({2, 2}, 1.0);
  in.rewards(0, 1) = 0.0;
  in.lengths = {1, 2};
  in.terminated = {terminated, 0};
  in.weights["mwl"] = Array<double, 2>({2, 2});
  return in;
}

TEST(EstimateMarginal, CountsWhatTerminatedAmongTheWeights) {
  // half of the mass ends after the first step
  EstimatorInputs in = TwoEpisodes(1);
  in.weights["mwl"](0, 0) = in.weights["mwl"](1, 0) = in.weights["mwl"](1, 1) = 1.0;
  EXPECT_DOUBLE_EQ(Evaluate(in, FiniteHorizon(2), {}).value.value(), 1.5);
  EXPECT_DOUBLE_EQ(
      Evaluate(in, FiniteHorizon(2), {"mwl", WeightNormalization::kNone}).value.value(), 1.5);
  // a policy that ends three times as often as it goes on
  in.weights["mwl"](0, 0) = 1.5;
  in.weights["mwl"](1, 0) = in.weights["mwl"](1, 1) = 0.5;
  EXPECT_DOUBLE_EQ(Evaluate(in, FiniteHorizon(2), {}).value.value(), 1.25);
}

TEST(EstimateMarginal, CountsWhatTerminatedOverAnInfiniteHorizonToo) {
  // one step and the end, discount 0.75: visitation 1/4 of weight 1 / 4 for the only row
  EstimatorInputs in = TwoEpisodes(1);
  in.lengths = {1, 1};
  in.terminated = {1, 1};
  in.rewards(1, 1) = 0.0;
  in.weights["mwl"](0, 0) = in.weights["mwl"](1, 0) = 0.25;
  for (const WeightNormalization how : {WeightNormalization::kSelf, WeightNormalization::kNone}) {
    const Estimate estimate = Evaluate(in, InfiniteHorizon(0.75), {"mwl", how});
    EXPECT_DOUBLE_EQ(estimate.value.value(), 1.0);
    EXPECT_THAT(estimate.notes, ElementsAre("mean weight 1, expected 1"));
  }
}

TEST(EstimateMarginal, LeavesOutWhatATimeLimitCutFromTheWeightsOfLaterSteps) {
  EstimatorInputs in = TwoEpisodes(0);
  in.weights["mwl"](0, 0) = in.weights["mwl"](1, 0) = 1.0;
  in.weights["mwl"](1, 1) = 2.0;  // stands for both
  EXPECT_DOUBLE_EQ(Evaluate(in, FiniteHorizon(2), {}).value.value(), 2.0);
  EXPECT_DOUBLE_EQ(
      Evaluate(in, FiniteHorizon(2), {"mwl", WeightNormalization::kNone}).value.value(), 2.0);
}

TEST(EstimateMarginal, RefusesAHorizonThatNoEpisodeReaches) {
  for (const std::uint8_t terminated : {std::uint8_t{0}, std::uint8_t{1}}) {
    EXPECT_THAT(Evaluate(TwoEpisodes(terminated), FiniteHorizon(3), {}).reason,
                HasSubstr("before step 2 of the horizon 3"));
  }
}

TEST(EstimateMarginal, RefusesWeightsThatAreAllZeroAtAStep) {
  EstimatorInputs in = TwoEpisodes(0);
  in.log_ratios["gen_dice"] = Array<double, 2>({2, 2}, -std::numeric_limits<double>::infinity());
  const Estimate estimate = Evaluate(in, FiniteHorizon(2), {.weights = "gen_dice"});
  EXPECT_EQ(estimate.reason, "no support");
  EXPECT_FALSE(estimate.value.has_value());
}

TEST(EstimateMarginal, ReportsNegativeWeightsAndTheEffectiveSampleSize) {
  EstimatorInputs in = TwoEpisodes(0);
  in.lengths = {2, 2};
  in.rewards(0, 1) = 3.0;
  in.weights["mwl"](0, 0) = in.weights["mwl"](1, 0) = 1.0;
  in.weights["mwl"](0, 1) = -1.0;
  in.weights["mwl"](1, 1) = 3.0;
  const Estimate estimate = Evaluate(in, FiniteHorizon(2), {});
  EXPECT_DOUBLE_EQ(estimate.value.value(), 1.0 + (-3.0 + 3.0) / 2.0);
  // 2 at the first step, max(1, 4 / 10) at the second
  EXPECT_DOUBLE_EQ(estimate.ess.value(), 1.5);
  EXPECT_DOUBLE_EQ(estimate.max_weight.value(), 1.0);
  EXPECT_THAT(estimate.notes, testing::Contains("25.0 % of the weights are negative"));
}

TEST(MarginalEstimators, NeedWhatIsFittedUnderTheirNames) {
  std::vector<std::string> names;
  for (const Estimator& estimator : MarginalEstimators()) {
    names.push_back(estimator.name);
    EXPECT_THAT(estimator.needs, ElementsAre(estimator.name));
    const Estimate estimate =
        RunEstimator(estimator, TwoStateInputs(0.9), FiniteHorizon(kMarginalHorizon, 0.9));
    if (estimator.name == "gen_dice") {
      EXPECT_EQ(estimate.reason, "gen_dice was not fitted");
    } else {
      EXPECT_TRUE(estimate.value.has_value());
    }
  }
  EXPECT_THAT(names, ElementsAre("mwl", "dual_dice", "gen_dice"));
}

}  // namespace
}  // namespace lfiw::ope
