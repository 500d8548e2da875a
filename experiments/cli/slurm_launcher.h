#ifndef LFIW_EXPERIMENTS_CLI_SLURM_LAUNCHER_H_
#define LFIW_EXPERIMENTS_CLI_SLURM_LAUNCHER_H_

#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/slurm_launch.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// `--launcher slurm`: writes scripts, submits an array of what is missing and a job that collects
// what it made. Slurm schedules; nothing here does.

// A launch as a command asks for it, before it is known what of it is done.
struct LaunchPlan {
  SlurmLaunch launch;
  SlurmOptions options;
  bool dry_run = false;  // prints the scripts
};

// Submits what is missing. Throws ConfigError where there is no Slurm, and ProgramError with what
// sbatch says.
Outcome Launch(const LaunchPlan& plan);

// The runs of `lfiw run` and `lfiw bench`: a sweep has a task for each run, any other command
// workers that share it.
Outcome LaunchRuns(const RunOptions& options, const CommonOptions& common);

// The words with which a task calls the program: its path, or its name within a container.
std::string ProgramWords(const SlurmOptions& options);

// `--threads` of a task: as asked, else the CPUs that Slurm gives it.
std::string ThreadsWords(const CommonOptions& common);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_SLURM_LAUNCHER_H_
