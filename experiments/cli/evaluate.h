#ifndef LFIW_EXPERIMENTS_CLI_EVALUATE_H_
#define LFIW_EXPERIMENTS_CLI_EVALUATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/slurm_options.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// What `lfiw evaluate` is asked.
struct EvaluateCommand {
  std::string data;                   // log file
  std::vector<std::string> policies;  // files, or folders of them
  std::string env;                    // empty: as the log says, else none
  std::string reward;        // environment, learned or a file; empty: the first that applies
  std::string behavior;      // file of the policy that wrote the log; empty: not given
  std::string map;           // which array is what, for a file of no known layout
  std::int64_t horizon = 0;  // 0: the longest episode of the log
  std::vector<std::string> overrides;
  std::string out;
  std::string cache = "outputs/cache";
  bool mean = false;  // the policies act without noise
  bool dry_run = false;
  bool stages = false;     // only list the stages
  bool work_only = false;  // only make the stages
  SlurmOptions launcher = {};
};

// Evaluates policies from a log with the robust preset and without a YAML file: works out the
// configuration and runs RunEvaluation on it. The run's config.yaml repeats it through `lfiw run`.
// Throws an Error for wrong input.
Outcome Evaluate(const EvaluateCommand& command, const CommonOptions& common);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_EVALUATE_H_
