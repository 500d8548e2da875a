#ifndef LFIW_EXPERIMENTS_PRESENTATION_EXPERIMENT_H_
#define LFIW_EXPERIMENTS_PRESENTATION_EXPERIMENT_H_

#include <array>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/run/run_directory.h"
#include "core/run/stage_cache.h"
#include "experiments/presentation/terminal_progress.h"

namespace lfiw::experiments {

// What an experiment file can ask for. Each kind has a configuration of its own.
enum class ExperimentKind {
  kEvaluation,
  kVerdictCalibration,
  kBench,
  kToyGaussian,
  kGof,
  kGofTable,
  kOmniglot
};
constexpr auto EnumNames(ExperimentKind /*kind*/) {
  return std::to_array<std::string_view>(
      {"mbope", "verdict_calibration", "bench", "toy_gaussian", "gof", "gof_table", "omniglot"});
}

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

  // How stages of this run write checkpoints and show their progress.
  StageWork Work() const { return TerminalWork(verbosity); }
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_EXPERIMENT_H_
