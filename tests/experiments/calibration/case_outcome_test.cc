#include "experiments/calibration/case_outcome.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace lfiw::experiments {
namespace {

TEST(OutcomeJson, ReadsBackToTheSame) {
  CaseOutcome outcome{.estimator = "model", .horizon = 3, .value = 1.5};
  outcome.evidence.auc = 0.5;
  outcome.evidence.open_loop = HUGE_VAL;
  outcome.evidence.mean_weight = MeanWeight{.step = 2, .supported = true, .log_mean = 0.1};
  outcome.evidence.improves = ImprovementCheck{.holds = true, .margin = 0.2};
  outcome.evidence.support = SupportCheck{.outside = 0.1, .median_ratio = HUGE_VAL};
  outcome.evidence.back_test = Backtest{.estimate = 1.0, .logged = 2.0};
  outcome.evidence.uncorrected = 1.2;
  outcome.evidence.possible = ReturnRange{-1.0, 1.0};
  const CaseOutcome again = OutcomeFromJson(nlohmann::json::parse(OutcomeJson(outcome).dump()));
  EXPECT_EQ(OutcomeJson(again), OutcomeJson(outcome));
  EXPECT_EQ(again.evidence.open_loop, HUGE_VAL);
  EXPECT_EQ(again.evidence.support->median_ratio, HUGE_VAL);
  EXPECT_FALSE(again.standard_error);
  EXPECT_EQ(again.evidence.uncorrected, 1.2);
  EXPECT_EQ(Judge(again.evidence, {}).reasons, Judge(outcome.evidence, {}).reasons);
}

}  // namespace
}  // namespace lfiw::experiments
