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

TEST(OutcomeJson, NamesEveryFieldAndLeavesAbsentPartsOut) {
  CaseOutcome outcome{.estimator = "model", .horizon = 3, .value = -HUGE_VAL};
  outcome.evidence.improves = ImprovementCheck{.holds = true, .margin = 0.25};
  outcome.evidence.possible = ReturnRange{-1.0, 1.0};
  const auto expected = nlohmann::json::parse(R"({
    "estimator": "model", "horizon": 3, "value": "-inf", "standard_error": null, "ci_low": null,
    "ci_high": null, "interval_method": "", "plain_low": null, "plain_high": null, "truth": 0.0,
    "spread": 0.0, "evidence": {
      "missing_value": "", "log_error": "", "log_warning": "", "episodes": 0, "ess": null, "khat": null, "clip_rate": null,
      "clamp_rate": null, "ece": null, "auc": null, "model_auc": null, "open_loop": null, "disagreement": null, "spread": null,
      "reach": null, "influence": null, "width": null, "value": null, "uncorrected": null, "possible": [-1.0, 1.0],
      "improves": {"holds": true, "margin": 0.25, "standard_error": null, "reason": ""}}})");
  EXPECT_EQ(OutcomeJson(outcome), expected);
}

}  // namespace
}  // namespace lfiw::experiments
