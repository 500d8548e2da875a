#ifndef LFIW_EXPERIMENTS_MBOPE_H_
#define LFIW_EXPERIMENTS_MBOPE_H_

#include <string>

#include "core/run_directory.h"
#include "core/stage_cache.h"
#include "experiments/mbope_config.h"
#include "experiments/terminal_progress.h"

namespace lfiw {

struct MbopeRun {
  StageCache& cache;
  RunDirectory& directory;
  Verbosity verbosity = Verbosity::kNormal;
  std::string command;  // for the report: how to run it again
};

// Runs model-based off-policy evaluation end to end and writes results.csv, results.json,
// report.json, report.html and plots into the run directory. Returns the program's exit status: 1
// when every estimate of the table is refused, else 0.
int RunMbope(const MbopeConfig& config, const MbopeRun& run);

// Checks what the types cannot: horizons within T, files where they are needed, enough rollouts.
// Throws ConfigError with one line per problem.
void CheckConfig(const MbopeConfig& config);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_MBOPE_H_
