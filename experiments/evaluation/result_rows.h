#ifndef LFIW_EXPERIMENTS_EVALUATION_RESULT_ROWS_H_
#define LFIW_EXPERIMENTS_EVALUATION_RESULT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/result_table.h"
#include "experiments/evaluation/evaluation_config.h"
#include "models/calibration.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "ope/judgement/diagnostics.h"
#include "ope/judgement/episode_intervals.h"
#include "ope/judgement/intervals.h"
#include "ope/judgement/verdict.h"
#include "ope/rollouts/lfiw.h"
#include "ope/rollouts/model_rollout.h"
#include "ope/rollouts/plain_model.h"
#include "policies/collect.h"

namespace lfiw::experiments {

// One LFIW estimator of the grid with its estimates at H = 0 .. T.
struct EstimatorSweep {
  LfiwOptions options;
  LfiwResult result;

  std::string Name() const;    // "lfiw_trajectory"
  std::string Params() const;  // "alpha=1 beta=0 average=estimates"
  std::string Label() const;   // for plots: the name, and what differs from the paper's choice
};

// All estimators of the grid, in its order.
std::vector<EstimatorSweep> RunEstimatorGrid(const EstimatorGrid& grid,
                                             const ModelRollouts& rollouts,
                                             const ValueOptions& value);

// One rerun of (part of) the pipeline on resampled data.
struct Replicate {
  PlainModelEstimate plain;
  std::vector<EstimatorSweep> sweeps;
};

// The doubly robust estimate and what it was made from.
struct DoublyRobustMeasurement {
  ChosenDoublyRobust chosen;
  EpisodeInterval interval;
  std::int64_t episodes = 0;  // logged ones that correct the model
};

// What the pipeline has measured; the table, the verdict and the report are made from it.
struct EvaluationMeasurements {
  PlainModelEstimate plain;
  std::vector<EstimatorSweep> sweeps;
  std::optional<DoublyRobustMeasurement> doubly_robust;
  std::vector<MeanWeight> mean_weights;  // [T]
  Calibration calibration;
  ImprovementCheck improvement;
  double clamp_rate = 0.0;
  std::optional<SupportCheck> support;
  // Of the behavior policy by the same method, one for each row of MakeRows; empty if not made.
  std::vector<std::optional<Backtest>> back_tests;
  std::optional<ReturnRange> possible;  // what the log's rewards can add up to
  std::optional<double> open_loop;      // Evidence::open_loop
  std::optional<double> reach;          // Evidence::reach
  std::optional<MonteCarloEstimate> truth;
  // Sweeps whose estimates [R, B] are those of B retrained classifiers; empty if none were asked.
  std::vector<EstimatorSweep> classifier_replicates;
  std::vector<Replicate> pipeline_replicates;
};

// What labels every row of a run.
struct RowLabels {
  std::string environment;
  std::string policy;
};

// Rows of results.csv: the plain model, every estimator at every H = 0 .. T, then the doubly robust
// one, which has no H.
std::vector<ResultRow> MakeRows(const EvaluationConfig& config, const RowLabels& labels,
                                const EvaluationMeasurements& measured);

// What a row of MakeRows is judged by; `row` counts them from 0.
Evidence RowEvidence(const EvaluationConfig& config, const EvaluationMeasurements& measured,
                     std::size_t row);

// The estimate to state first, chosen from diagnostics alone: the doubly robust one where there is
// one, else the first estimator of the grid at the largest H whose k-hat is reliable at it and at
// every smaller one, else the plain model.
struct Headline {
  std::string estimator;
  std::int64_t horizon = 0;  // of weighted estimates
  std::string why;

  // Rows of one estimator with other parameters have the same name: the first is meant.
  bool Names(const ResultRow& row) const {
    return row.estimator == estimator && row.horizon.value_or(0) == horizon;
  }
};
Headline ChooseHeadline(const EvaluationMeasurements& measured);
// The same from the rollouts alone, as if there were no doubly robust estimate.
Headline ChooseRolloutHeadline(const EvaluationMeasurements& measured);

// Where a headline stands among the rows of MakeRows, or some of them that hold it.
std::size_t RowOf(const Headline& headline, std::span<const ResultRow> rows);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_RESULT_ROWS_H_
