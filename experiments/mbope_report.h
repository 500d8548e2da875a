#ifndef LFIW_EXPERIMENTS_MBOPE_REPORT_H_
#define LFIW_EXPERIMENTS_MBOPE_REPORT_H_

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/result_table.h"
#include "experiments/mbope_config.h"
#include "experiments/mbope_results.h"
#include "experiments/mbope_stages.h"

namespace lfiw {

// How well a reward function reproduces the rewards of the log.
struct RewardCheck {
  std::string source;
  double mean_error = 0.0;         // per step
  double rms_error = 0.0;          // per step
  double mean_return_error = 0.0;  // per episode
};
// One entry per reward source that the environment knows.
std::vector<RewardCheck> CheckRewards(const EnvFactory& env, const EpisodeBatch& log);

// What report.json is made from.
struct ReportInputs {
  const MbopeConfig& config;
  const EnvSpec& spec;
  const PolicySet& policies;
  const EpisodeBatch& log;
  const LogSplit& split;
  const FittedModels& models;
  const MbopeMeasurements& measured;
  std::span<const ResultRow> rows;  // all of results.csv
  std::span<const RewardCheck> rewards;
  std::string command;
};

// The rows of the table on the first screen and in the report: the plain model, then every
// estimator at the listed horizons, at T, and at the headline's.
std::vector<ResultRow> TableRows(const ReportInputs& in);

// report.json, as described in experiments/report.h; timings and versions are added by the caller.
nlohmann::json MakeReport(const ReportInputs& in);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_MBOPE_REPORT_H_
