#ifndef LFIW_EXPERIMENTS_MBOPE_H_
#define LFIW_EXPERIMENTS_MBOPE_H_

#include <optional>
#include <string>

#include "core/run_directory.h"
#include "core/stage_cache.h"
#include "experiments/mbope_config.h"
#include "experiments/mbope_inputs.h"
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
// when every estimate is refused, else 0. `given` is the log of config.log.file where the caller
// has read it already.
int RunMbope(const MbopeConfig& config, const MbopeRun& run,
             std::optional<LogSource> given = std::nullopt);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_MBOPE_H_
