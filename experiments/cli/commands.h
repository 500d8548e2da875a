#ifndef LFIW_EXPERIMENTS_CLI_COMMANDS_H_
#define LFIW_EXPERIMENTS_CLI_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/cli/slurm_options.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"
#include "experiments/presentation/terminal_progress.h"

namespace lfiw::experiments {

// The verbs of the program. Each returns what is to be printed with the exit status (0, or 1 when
// no requested estimate has a value, whatever the verdicts) and throws an Error for wrong input; a
// NumericError is status 1 too.

struct CommonOptions {
  int threads = 0;
  Verbosity verbosity = Verbosity::kNormal;
  OutputForm form = OutputForm::kText;
};

struct RunOptions {
  std::string config;
  std::vector<std::string> overrides;
  bool multirun = false;
  bool dry_run = false;
  std::string out;
  std::string cache = "outputs/cache";
  std::optional<ExperimentKind> kind = {};  // what the file must be for; empty: anything
  bool stages = false;                      // only list the stages
  bool work_only = false;                   // only make the stages
  SlurmOptions launcher = {};
};
// In run_command.cc. The runs of a sweep say what they have to say as they end, unless the form is
// JSON.
Outcome Run(const RunOptions& options, const CommonOptions& common);

struct TruthCommand {
  std::string env, policy, contract;
  bool mean = false;  // act by the policy's mean
  std::int64_t horizon = 1000;
  std::int64_t episodes = 20;
  double discount = 1.0;
  std::uint64_t seed = 0;
};
Outcome Truth(const TruthCommand& options, const CommonOptions& common);

struct TrainCommand {
  std::string env, out;
  std::uint64_t seed = 0;
  std::vector<std::string> overrides;
};
Outcome Train(const TrainCommand& options, const CommonOptions& common);

struct CollectCommand {
  std::string env, policy, contract, out;
  std::string format;  // a name of LogFormat; empty: by the ending of `out`
  std::int64_t horizon = 1000;
  std::int64_t episodes = 100;
  std::uint64_t seed = 0;
};
Outcome Collect(const CollectCommand& options, const CommonOptions& common);

struct CheckPolicyCommand {
  std::string policy, contract, data;
  std::string env;  // for its bounds; empty: those that the log shows
};
Outcome CheckPolicy(const CheckPolicyCommand& options);

struct ReportCommand {
  std::string directory;  // of the run
  bool open = false;      // in a browser
};
Outcome Report(const ReportCommand& command);

Outcome Doctor();
// Tries what a cache needs of the file system that it lies on; status 2 where something fails.
Outcome DoctorOfCache(const std::string& folder);

// Warns on standard error of a slow BLAS, which makes every run many times longer.
void WarnIfSlow();

// "lfiw 0.1.0 (MuJoCo 2.2.2, LibTorch 1.13.1, ...)".
std::string VersionText();

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_COMMANDS_H_
