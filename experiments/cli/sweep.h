#ifndef LFIW_EXPERIMENTS_CLI_SWEEP_H_
#define LFIW_EXPERIMENTS_CLI_SWEEP_H_

#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/cli/commands.h"

namespace lfiw::experiments {

// The runs of a sweep. Any number of processes of the same command share them.

// The overrides of each run, and the folder of each below that of the sweep; empty folders where
// the sweep has none.
struct SweepRun {
  std::vector<std::string> overrides;
  std::string out;
};
std::vector<SweepRun> RunsOf(const RunOptions& options);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_SWEEP_H_
