#ifndef LFIW_EXPERIMENTS_EVALUATION_REPORT_JSON_H_
#define LFIW_EXPERIMENTS_EVALUATION_REPORT_JSON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/result_table.h"
#include "experiments/evaluation/evaluation_config.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/policy_differences.h"
#include "experiments/evaluation/policy_evaluation.h"
#include "experiments/evaluation/result_rows.h"

namespace lfiw::experiments {

// How well a reward function reproduces the rewards of the log.
struct RewardCheck {
  std::string source;
  double mean_error = 0.0;         // per step
  double rms_error = 0.0;          // per step
  double mean_return_error = 0.0;  // per episode
};
// One entry per reward source that the environment knows, that in use first; of a learned reward
// its held-out error, and of a module's its error on the log.
std::vector<RewardCheck> CheckRewards(const StageContext& context, const EpisodeBatch& log,
                                      const FittedModels& models);

// v(new) - v(logged): the stated estimate less the mean return of the log.
struct Difference {
  double value = 0.0;
  double low = 0.0;  // at the level of the estimate's interval, whose spread and the log's add up
  double high = 0.0;
};
std::optional<Difference> DifferenceFromLog(const ResultRow& row, const Backtest& logged,
                                            double level);

// What report.json is made from.
struct ReportInputs {
  const EvaluationConfig& config;
  const Task& task;
  const PolicySet& policies;
  const LogSource& log;
  const LogSplit& split;
  const FittedModels& models;
  std::optional<Backtest> logged;                 // what the log says of the policy that wrote it
  std::span<const PolicyEvaluation> evaluations;  // the one ranked first first
  std::span<const RewardCheck> rewards;
  std::string command;
  // The best policy less each, in the order of `evaluations`; empty where there is one policy.
  std::span<const std::optional<PolicyDifference>> from_best = {};
};

// The rows of the table on the first screen and in the report: the plain model, then every
// estimator at the listed horizons, at T, and at the headline's.
std::vector<JudgedRow> TableRows(const EvaluationConfig& config,
                                 const PolicyEvaluation& evaluation);

// report.json about one of the evaluations, as described in experiments/evaluation/report_page.h;
// timings and versions are added by the caller.
nlohmann::json MakeReport(const ReportInputs& in, const PolicyEvaluation& evaluation);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_REPORT_JSON_H_
