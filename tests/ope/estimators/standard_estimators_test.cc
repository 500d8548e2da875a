#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ope/estimator.h"

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;

EstimatorInputs StandardInputs() {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({2, 3}, 1.0);
  in.rewards(1, 2) = 4.0;
  in.lengths = {3, 3};
  in.terminated = {0, 0};
  return in;
}

TEST(StandardEstimators, AreTheWholeFamilyByName) {
  const EstimatorRegistry registry = StandardEstimators();
  std::vector<std::string> names;
  for (const Estimator& estimator : registry.all()) names.push_back(estimator.name);
  EXPECT_THAT(names,
              ElementsAre("logged", "is", "wis", "pdis", "wpdis", "fqe", "mrdr", "mql",
                          "model_value", "dr_fqe", "wdr_fqe", "magic_fqe", "dr_mrdr", "wdr_mrdr",
                          "magic_mrdr", "dr_model", "wdr_model", "magic_model", "mwl", "dual_dice",
                          "gen_dice", "dr_lfiw", "dr_lfiw_cumulative", "dr_lfiw_dual_dice", "model",
                          "lfiw_trajectory", "lfiw_trajectory_reliable", "lfiw_per_decision",
                          "lfiw_per_decision_reliable", "lfiw_stepwise", "lfiw_stepwise_reliable",
                          "lfiw_slope", "lfiw_magic", "lfiw_opera", "calibrated_model"));
}

TEST(StandardEstimators, RefuseInWordsWhatTheyLack) {
  Estimand estimand;
  estimand.horizon = 3;
  const EstimatorRegistry registry = StandardEstimators();
  for (const Estimator& estimator : registry.all()) {
    if (estimator.needs.empty()) continue;  // `logged` lacks nothing
    const Estimate estimate = RunEstimator(estimator, StandardInputs(), estimand);
    EXPECT_FALSE(estimate.value) << estimator.name;
    EXPECT_THAT(estimate.reason, Not(testing::IsEmpty())) << estimator.name;
    EXPECT_THAT(estimator.summary, Not(testing::IsEmpty())) << estimator.name;
  }
}

// A new estimator is a function of the inputs and one line that registers it.
Estimate LoggedMean(const EstimatorInputs& in, const Estimand& estimand) {
  const std::vector<double> factors = StepFactors(estimand, in.steps());
  Estimate out;
  out.terms = {Array<double, 2>({in.episodes(), 1}), Array<double, 2>({in.episodes(), 0})};
  for (std::int64_t i = 0; i < in.episodes(); ++i) {
    for (std::int64_t t = 0; t < in.steps(); ++t) {
      out.terms.numerators(i, 0) += factors[static_cast<std::size_t>(t)] * in.rewards(i, t);
    }
  }
  return out;
}

TEST(StandardEstimators, TakeANewOneInOneLine) {
  EstimatorRegistry registry = StandardEstimators();
  registry.Add({.name = "own_mean", .summary = "the log", .needs = {}, .estimate = LoggedMean});
  Estimand estimand;
  estimand.horizon = 3;
  const Estimate estimate = RunEstimator(registry.Find("own_mean"), StandardInputs(), estimand);
  EXPECT_DOUBLE_EQ(*estimate.value, 4.5);
  EXPECT_DOUBLE_EQ(*estimate.standard_error, 1.5);
  EXPECT_EQ(RunEstimator(registry.Find("logged"), StandardInputs(), estimand).value, 4.5);
}

}  // namespace
}  // namespace lfiw::ope
