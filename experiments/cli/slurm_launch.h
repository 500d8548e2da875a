#ifndef LFIW_EXPERIMENTS_CLI_SLURM_LAUNCH_H_
#define LFIW_EXPERIMENTS_CLI_SLURM_LAUNCH_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/cli/slurm_options.h"

namespace lfiw::experiments {

// A job array on disk: FOLDER/slurm holds launch.json, the list of tasks, the two scripts and a log
// for each task.

// One task of an array.
struct SlurmTask {
  std::string command;   // words for a shell
  std::string run;       // its run directory
  std::string settings;  // SHA-256 of the config.yaml that the run has when it is this one
};

struct SlurmLaunch {
  std::string folder;
  std::string name;  // of the jobs
  std::vector<SlurmTask> tasks;
  std::string collect;                  // command of the collecting job
  std::string collected;                // file that it leaves
  std::vector<std::string> jobs;        // ids of the arrays so far
  std::vector<std::int64_t> submitted;  // tasks that have been submitted so far, ascending
  std::string collect_job;              // id of the last collecting job

  std::string File(const std::string& name_in_folder) const {
    return folder + "/slurm/" + name_in_folder;
  }
  std::string LogOf(std::int64_t task) const;

  // Writes and reads launch.json. Reading throws DataError where there is none.
  void Save() const;
  static SlurmLaunch Load(const std::string& folder);
};

// What has become of a task.
enum class TaskState { kDone, kRunning, kQueued, kFailed, kToDo };
constexpr auto EnumNames(TaskState /*kind*/) {
  return std::to_array<std::string_view>({"done", "running", "queued", "failed", "to do"});
}

struct TaskStatus {
  TaskState state = TaskState::kToDo;
  std::string node;       // of a running task
  std::string last_line;  // of the log of a failed one
};

// What Slurm says of the user's jobs that are queued or running: by "ARRAY_TASK" or "JOB".
struct QueuedJob {
  std::string state;
  std::string node;
};
using SlurmQueue = std::map<std::string, QueuedJob>;

// Reads the output of squeue with the format kQueueFormat.
inline constexpr const char* kQueueFormat = "%F|%K|%T|%N";
SlurmQueue ParseQueue(const std::string& text);

// Asks squeue. Throws ProgramError where there is none.
SlurmQueue AskQueue();

// Whether the run of a task has ended with these settings, or the task itself has.
bool IsDone(const SlurmLaunch& launch, std::int64_t task);

// The state of every task.
std::vector<TaskStatus> StatusOf(const SlurmLaunch& launch, const SlurmQueue& queue);

// The last line of a file that is not blank; empty where there is none.
std::string LastLineOf(const std::string& path);

// Writes numbers as an array's range: "0-2,5".
std::string RangeText(std::span<const std::int64_t> numbers);

// The batch script of the array, for the given tasks, and of the job that collects what they made.
std::string ArrayScript(const SlurmLaunch& launch, const SlurmOptions& options,
                        std::span<const std::int64_t> tasks, const std::string& work_folder);
std::string CollectScript(const SlurmLaunch& launch, const SlurmOptions& options,
                          const std::string& work_folder);

// A word of a command line as a shell reads it.
std::string ShellWord(const std::string& word);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_SLURM_LAUNCH_H_
