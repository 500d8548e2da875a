#ifndef LFIW_EXPERIMENTS_CLI_SWEEP_H_
#define LFIW_EXPERIMENTS_CLI_SWEEP_H_

#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/cli/commands.h"

namespace lfiw::experiments {

// One run of a sweep: its overrides, and its folder below that of the sweep; an empty folder where
// the sweep has none.
struct SweepRun {
  std::vector<std::string> overrides;
  std::string out;
};

// The runs of `lfiw run -m`, in their order.
std::vector<SweepRun> RunsOf(const RunOptions& options);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_SWEEP_H_
