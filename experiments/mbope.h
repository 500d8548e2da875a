#ifndef LFIW_EXPERIMENTS_MBOPE_H_
#define LFIW_EXPERIMENTS_MBOPE_H_

#include <optional>

#include "experiments/experiment.h"
#include "experiments/mbope_config.h"
#include "experiments/mbope_inputs.h"

namespace lfiw {

// Runs model-based off-policy evaluation end to end and writes results.csv, results.json,
// report.json, report.html and plots into the run directory. Returns the program's exit status: 1
// when every estimate is refused, else 0. `given` is the log of config.log.file where the caller
// has read it already.
int RunMbope(const MbopeConfig& config, const ExperimentRun& run,
             std::optional<LogSource> given = std::nullopt);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_MBOPE_H_
