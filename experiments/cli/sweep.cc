#include "experiments/cli/sweep.h"

#include <fmt/format.h>

#include <utility>

#include "core/config/config_sweep.h"

namespace lfiw::experiments {

std::vector<SweepRun> RunsOf(const RunOptions& options) {
  std::vector<SweepRun> runs;
  for (std::vector<std::string>& overrides : ExpandSweep(options.overrides)) {
    const std::string out =
        options.out.empty() ? "" : fmt::format("{}/{}", options.out, runs.size());
    runs.push_back({std::move(overrides), out});
  }
  return runs;
}

}  // namespace lfiw::experiments
