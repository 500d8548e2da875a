#ifndef LFIW_EXPERIMENTS_EXPERIMENT_H_
#define LFIW_EXPERIMENTS_EXPERIMENT_H_

#include <array>
#include <string>
#include <vector>

#include "core/run_directory.h"
#include "core/stage_cache.h"
#include "core/visitor.h"
#include "experiments/terminal_progress.h"

namespace lfiw {

// What an experiment file can ask for. Each kind has a configuration of its own.
enum class ExperimentKind {
  kMbope,
  kVerdictCalibration,
  kBench,
  kToyGaussian,
  kGof,
  kGofTable,
  kOmniglot
};
template <>
struct EnumNames<ExperimentKind> {
  static constexpr std::array names = {"mbope", "verdict_calibration", "bench",   "toy_gaussian",
                                       "gof",   "gof_table",           "omniglot"};
};

// The kind that a file and its overrides name; mbope if they name none. Throws ConfigError for a
// kind that does not exist.
ExperimentKind ReadExperimentKind(const std::string& path,
                                  const std::vector<std::string>& overrides);

// Where an experiment works and what it says meanwhile.
struct ExperimentRun {
  StageCache& cache;
  RunDirectory& directory;
  Verbosity verbosity = Verbosity::kNormal;
  std::string command;  // for the report: how to run it again
};

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_EXPERIMENT_H_
