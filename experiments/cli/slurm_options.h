#ifndef LFIW_EXPERIMENTS_CLI_SLURM_OPTIONS_H_
#define LFIW_EXPERIMENTS_CLI_SLURM_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/layers.h"

namespace lfiw::experiments {

// Where a command runs.
enum class Launcher { kHere, kSlurm };
constexpr auto EnumNames(Launcher /*kind*/) {
  return std::to_array<std::string_view>({"here", "slurm"});
}

// What `--launcher slurm` asks of Slurm.
struct SlurmOptions {
  Launcher launcher = Launcher::kHere;
  std::string partition, account;
  std::string time;    // of a task, as sbatch reads it: "4:00:00"
  std::string memory;  // of a task: "8G"
  std::int64_t cpus_per_task = 1;
  std::int64_t array_parallelism = 0;  // most tasks at once; 0: no limit
  std::int64_t workers = 4;            // tasks that share a command that is no sweep
  std::vector<std::string> sbatch;     // further options, one a line: "--gres=gpu:1"
  std::vector<std::string> prelude;    // lines of shell before the program: "module load gcc"
  std::string within;                  // command that runs the program: "apptainer exec lfiw.sif"

  bool is_on() const { return launcher == Launcher::kSlurm; }
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_SLURM_OPTIONS_H_
