#ifndef LFIW_EXPERIMENTS_CLI_SWEEP_SUMMARY_H_
#define LFIW_EXPERIMENTS_CLI_SWEEP_SUMMARY_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"

namespace lfiw::experiments {

// What one run of a sweep states first about one policy.
struct SweptRun {
  std::string overrides;  // "seed=1 dynamics.members=7"
  std::string directory;  // of the run
  std::string policy;     // where a run is about several; empty: the only one
  std::string estimator;
  std::optional<double> value, standard_error, low, high, truth;
  std::string verdict;
};

// Reads what a run wrote: a row for each policy. Nothing of runs that state no value, such as
// those of a bench.
std::vector<SweptRun> ReadSweptRun(const std::string& overrides, const std::string& directory);

// A table for the terminal, one line for each run, and below it mean, standard deviation over runs
// and, where truths are known, root mean square error and the share of intervals that hold the
// truth. Empty without runs.
std::string SweepText(std::span<const SweptRun> runs);

// The same rows as CSV: overrides, directory, policy, estimator, value, stderr, ci_low, ci_high,
// truth, verdict.
std::string SweepCsv(std::span<const SweptRun> runs);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_SWEEP_SUMMARY_H_
