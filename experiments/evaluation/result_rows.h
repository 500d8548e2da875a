#ifndef LFIW_EXPERIMENTS_EVALUATION_RESULT_ROWS_H_
#define LFIW_EXPERIMENTS_EVALUATION_RESULT_ROWS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
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
#include "ope/rollouts/calibrated_model.h"
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
  std::int64_t episodes = 0;             // logged ones that correct the model
  std::optional<double> influence = {};  // LargestInfluence of their terms
};

// An estimate by a registered estimator from the logged episodes.
struct NamedMeasurement {
  std::string name;
  Estimate estimate;         // without its terms
  EpisodeInterval interval;  // given what was fitted
  std::int64_t episodes = 0;
  std::optional<double> influence = {};  // LargestInfluence of their terms
};

// What an estimate of a run is: the plain model, one of the grid at a horizon, the doubly robust
// one or a registered one. The same key names the same method for every policy of a run.
enum class RowKind { kModel, kWeighted, kDoublyRobust, kNamed, kCalibrated };
struct RowKey {
  RowKind kind = RowKind::kModel;
  std::int64_t sweep = 0;    // of kWeighted: index into EvaluationMeasurements::sweeps
  std::int64_t horizon = 0;  // of kWeighted: H
  std::string name = {};     // of kNamed

  bool operator==(const RowKey&) const = default;
  bool operator<(const RowKey& other) const {
    return std::tie(kind, sweep, horizon, name) <
           std::tie(other.kind, other.sweep, other.horizon, other.name);
  }
};

// Back-tests by what was back-tested.
using BacktestsByRow = std::map<RowKey, Backtest>;

// What the pipeline has measured; the table, the verdict and the report are made from it.
struct EvaluationMeasurements {
  PlainModelEstimate plain;
  std::vector<EstimatorSweep> sweeps;
  std::optional<DoublyRobustMeasurement> doubly_robust;
  std::vector<NamedMeasurement> named;
  std::optional<CalibratedModel> calibrated;  // where the logged policy is there to ask
  std::vector<double> member_values;          // of the policy in each member of the model alone
  std::vector<MeanWeight> mean_weights;       // [T]
  Calibration calibration;
  ImprovementCheck improvement;
  double clamp_rate = 0.0;
  std::optional<SupportCheck> support;
  BacktestsByRow back_tests;            // of the behavior policy by the same methods; may be empty
  std::optional<ReturnRange> possible;  // what the log's rewards can add up to
  std::optional<ReturnRange> seen;      // LoggedRange
  std::optional<double> open_loop;      // Evidence::open_loop
  std::optional<double> reach;          // Evidence::reach
  std::optional<double> spread;         // Evidence::spread
  std::optional<double> influence;      // of the logged returns, Evidence::influence
  std::string log_error, log_warning;   // Evidence::log_error, log_warning
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

// A row of results.csv with what it was judged by.
struct JudgedRow {
  RowKey key;
  ResultRow row;
  Evidence evidence;
  std::vector<std::string> reasons = {};  // of the verdict
  // The interval before a back-test or a correction widens it; empty where there is none.
  std::optional<double> plain_low = {}, plain_high = {};
};

// Makes the rows of results.csv: the plain model, every estimator at every H = 0 .. T, then the
// doubly robust one and those asked for by name, which have no H.
std::vector<JudgedRow> MakeRows(const EvaluationConfig& config, const RowLabels& labels,
                                const EvaluationMeasurements& measured);

// Finds the row of that key among rows that hold it.
const JudgedRow& FindRow(const RowKey& key, std::span<const JudgedRow> rows);

// The estimate to state first, chosen from diagnostics alone: the doubly robust one where there is
// one, else the first estimator of the grid at the largest H whose k-hat is reliable at it and at
// every smaller one, else the plain model.
struct Headline {
  RowKey key;
  std::string why;
};
Headline ChooseHeadline(const EvaluationMeasurements& measured);
// Chooses from the rollouts alone, as if there were no doubly robust estimate.
Headline ChooseRolloutHeadline(const EvaluationMeasurements& measured);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_RESULT_ROWS_H_
