#ifndef LFIW_TESTS_EXPERIMENTS_EVALUATION_HAND_MADE_REPORT_H_
#define LFIW_TESTS_EXPERIMENTS_EVALUATION_HAND_MADE_REPORT_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/evaluation/report_json.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {

inline constexpr std::int64_t kReportHorizon = 3;

// A run whose every number is written by hand: one estimator at H = 0 .. 3, worth 10 + H beside the
// plain model's 9 and the log's 8, of which H = 2 is the last with reliable weights and H = 3 is
// refused.
class HandMadeReport : public SmallEvaluation {
 protected:
  HandMadeReport() : models_(Fit(2)), logged_(AnswerForLog(0.0)) {
    config_.name = "by hand";
    config_.value = EstimandOptions{{0.5, ValueScale::kSum}, kReportHorizon};
    config_.rollout.episodes = 100;
    config_.estimators.variants = {LfiwVariant::kTrajectory};
    config_.intervals.level = 0.9;
    log_.notes = {"it was cut short"};
    policies_.behavior = behavior_;
    policies_.training = {{"seed 4", {10, 20}, {1.5, 2.5}}};
    SetModels();
    evaluations_ = {Evaluation("new", 0.0)};
    checks_ = {
        {.source = "displacement", .mean_error = 0.01, .rms_error = 0.02, .mean_return_error = 0.3},
        {.source = "trapezoid", .mean_error = -0.1, .rms_error = 0.2, .mean_return_error = -3.0}};
  }

  // The log's return of 8 beside an answer.
  static Backtest AnswerForLog(double estimate) {
    return {.estimate = estimate,
            .estimate_stderr = 0.3,
            .logged = 8.0,
            .logged_stderr = 0.4,
            .spread = 2.0};
  }

  // An evaluation whose values are all higher by `shift`.
  static PolicyEvaluation Evaluation(const std::string& label, double shift) {
    PolicyEvaluation evaluation{.policy = ConstantSource(label, shift, 1.0),
                                .clamped_values = 6,
                                .predicted_values = 600,
                                .measured = Measured(shift),
                                .rows = {}};
    evaluation.rows.push_back(ModelRow(label, shift));
    for (std::int64_t h = 0; h <= kReportHorizon; ++h) {
      evaluation.rows.push_back(WeightedRow(label, shift, h));
    }
    return evaluation;
  }

  ReportInputs Inputs() const {
    return {config_, task_,   policies_,    log_,    split_,
            models_, logged_, evaluations_, checks_, "lfiw run by_hand.yaml"};
  }

  FittedModels models_;
  PolicySet policies_;
  std::optional<Backtest> logged_;
  std::vector<PolicyEvaluation> evaluations_;
  std::vector<RewardCheck> checks_;

 private:
  void SetModels() {
    models_.dynamics_report = {.errors = {.steps = 60, .r2 = {0.9, 0.8}, .mixture_nll = -1.5},
                               .open_loop = {0.1, 0.2, 0.4}};
    models_.dynamics_histories = {{{10, 20}, {3.0, 2.0}, {3.5, 2.5}},
                                  {{10, 20}, {4.0, 1.0}, {4.5, 1.5}}};
    models_.classifier_histories = {{{5}, {0.7}, {0.6}}, {{5}, {0.5}, {0.4}}};
    models_.learned.reward = RewardErrors{.rmse = 0.11, .mean_error = -0.02, .r2 = 0.97};
    models_.learned.termination =
        TerminationErrors{.log_loss = 0.3, .positives = 9, .missed = 5, .false_alarms = 2};
    models_.learned.termination_note = "most ends cannot be told";
  }

  static EvaluationMeasurements Measured(double shift) {
    EvaluationMeasurements measured;
    measured.plain.value = 9.0 + shift;
    EstimatorSweep sweep;
    sweep.result = {.repetitions = 3, .classifiers = 2, .episodes = 100, .horizons = {}};
    for (std::int64_t h = 0; h <= kReportHorizon; ++h) {
      LfiwEstimate estimate;
      estimate.horizon = h;
      if (h < kReportHorizon) {
        estimate.value = 10.0 + static_cast<double>(h) + shift;
        estimate.standard_error = 0.25;
      }
      if (h > 0) estimate.khat = h < kReportHorizon ? 0.2 : 0.9;
      estimate.ess = 100.0 - static_cast<double>(h);
      estimate.max_weight = 0.01 * static_cast<double>(h);
      sweep.result.horizons.push_back(estimate);
    }
    measured.sweeps = {sweep};
    measured.mean_weights = {
        {.step = 0, .supported = true, .log_mean = std::log(1.25), .log_stderr = 0.2},
        {.step = 1, .supported = true, .log_mean = std::log(0.5), .log_stderr = {}},
        {.step = 2}};
    measured.calibration.bins = {{3, 0.25, 0.375}, {0, 0.0, 0.0}};
    measured.calibration.auc = 0.75;
    measured.calibration.ece = 0.05;
    measured.improvement = {.holds = true, .margin = 0.125};
    measured.clamp_rate = 0.01;
    measured.support =
        SupportCheck{.outside = 0.1, .median_ratio = 1.5, .worst_quarter = 0.3, .queries = 7};
    measured.truth = MonteCarloEstimate{
        .value = 12.5, .standard_error = 0.2, .episodes = 50, .mean_length = 3.0};
    return measured;
  }

  static JudgedRow ModelRow(const std::string& label, double shift) {
    JudgedRow judged;
    judged.row.policy = label;
    judged.row.estimator = "model";
    judged.row.horizon = 0;
    judged.row.value = 9.0 + shift;
    judged.row.verdict = "trust";
    return judged;
  }

  static JudgedRow WeightedRow(const std::string& label, double shift, std::int64_t h) {
    JudgedRow judged;
    judged.key = {RowKind::kWeighted, 0, h};
    ResultRow& row = judged.row;
    row.policy = label;
    row.estimator = "lfiw_trajectory";
    row.params = "alpha=1";
    row.horizon = h;
    row.ess = 100.0 - static_cast<double>(h);
    row.khat = 0.2;
    row.max_weight = 0.5;
    row.truth = 12.5;
    if (h == kReportHorizon) {
      row.verdict = "do not use";
      row.reason = "no support";
      return judged;
    }
    row.value = 10.0 + static_cast<double>(h) + shift;
    row.log10_value = 1.0;
    row.standard_error = 0.25;
    row.se_within = 0.125;
    row.se_between = 0.5;
    row.ci_low = *row.value - 1.0;
    row.ci_high = *row.value + 2.0;
    row.interval_method = "by_hand";
    row.error = *row.value - 12.5;
    row.verdict = "caution";
    row.reason = "few episodes count";
    judged.evidence.back_test = AnswerForLog(8.5 + shift);
    return judged;
  }
};

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_EVALUATION_HAND_MADE_REPORT_H_
