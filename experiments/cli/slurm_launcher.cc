#include "experiments/cli/slurm_launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/config/config.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/run_directory.h"
#include "core/run/sha256.h"
#include "experiments/cli/experiment_kinds.h"
#include "experiments/cli/sweep.h"
#include "experiments/presentation/subprocess.h"

namespace lfiw::experiments {
namespace {

namespace fs = std::filesystem;

constexpr double kSubmitSeconds = 120.0;

bool IsOnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

void RequireSlurm() {
  if (IsOnPath("sbatch")) return;
  Throw<ConfigError>(
      "--launcher slurm: there is no sbatch on PATH; Slurm is what the login node of a cluster "
      "has, or Debian's packages slurm-wlm and munge; --dry-run prints the script");
}

// The id that `sbatch --parsable` prints: "ID" or "ID;CLUSTER".
std::string Submit(std::vector<std::string> command) {
  command.insert(command.begin(), {"sbatch", "--parsable"});
  std::string id = RunProgram(command, "", kSubmitSeconds, ProgramEnvironment::kWhole);
  id.resize(std::min(id.find_first_of(";\n"), id.size()));
  if (id.empty()) Throw<ProgramError>("sbatch: printed no id of a job");
  return id;
}

std::string WorkFolder() { return fs::current_path().string(); }

// Tasks that are neither done nor queued.
std::vector<std::int64_t> Missing(const std::vector<TaskStatus>& statuses) {
  std::vector<std::int64_t> missing;
  for (std::size_t t = 0; t < statuses.size(); ++t) {
    const TaskState state = statuses[t].state;
    if (state == TaskState::kFailed || state == TaskState::kToDo) {
      missing.push_back(static_cast<std::int64_t>(t));
    }
  }
  return missing;
}

void WriteScripts(const SlurmLaunch& launch, const SlurmOptions& options,
                  const std::vector<std::int64_t>& tasks) {
  CreateDirectories(launch.folder + "/slurm");
  std::string commands;
  for (const SlurmTask& task : launch.tasks) commands += task.command + "\n";
  WriteFileAtomically(launch.File("tasks"), commands);
  WriteFileAtomically(launch.File("array.sh"), ArrayScript(launch, options, tasks, WorkFolder()));
  WriteFileAtomically(launch.File("collect.sh"), CollectScript(launch, options, WorkFolder()));
}

// The tasks of earlier arrays that are still queued or running, as Slurm names them. A collecting
// job waits for these alone: what else was in their arrays may have failed.
std::vector<std::string> ActiveTasks(const SlurmLaunch& launch, const SlurmQueue& queue) {
  std::vector<std::string> active;
  for (const std::string& job : launch.jobs) {
    const std::string prefix = job + "_";
    for (auto task = queue.lower_bound(prefix);
         task != queue.end() && task->first.starts_with(prefix); ++task) {
      active.push_back(task->first);
    }
  }
  return active;
}

// Submits an array of the missing tasks. Returns its id, which is on disk before anything else may
// fail.
std::string SubmitArray(const std::vector<std::int64_t>& missing, SlurmLaunch& launch) {
  const std::string job = Submit({launch.File("array.sh")});
  launch.jobs.push_back(job);
  std::vector<std::int64_t>& submitted = launch.submitted;
  submitted.insert(submitted.end(), missing.begin(), missing.end());
  std::ranges::sort(submitted);
  submitted.erase(std::unique(submitted.begin(), submitted.end()), submitted.end());
  launch.Save();
  return job;
}

// Submits the job that collects what all of `active` leave, in place of an earlier one.
void SubmitCollecting(const std::vector<std::string>& active, const SlurmQueue& queue,
                      SlurmLaunch& launch) {
  if (queue.contains(launch.collect_job)) {
    RunProgram({"scancel", launch.collect_job}, "", kSubmitSeconds, ProgramEnvironment::kWhole);
  }
  std::vector<std::string> collect = {launch.File("collect.sh")};
  if (!active.empty()) {
    collect.insert(collect.begin(), {fmt::format("--dependency=afterok:{}", fmt::join(active, ":")),
                                     "--kill-on-invalid-dep=yes"});
  }
  launch.collect_job = Submit(collect);
  launch.Save();
}

Outcome DryRun(const SlurmLaunch& launch, const SlurmOptions& options) {
  std::vector<std::int64_t> all;
  for (std::size_t t = 0; t < launch.tasks.size(); ++t) all.push_back(static_cast<std::int64_t>(t));
  const std::string array = ArrayScript(launch, options, all, WorkFolder());
  const std::string collect = CollectScript(launch, options, WorkFolder());
  Outcome outcome;
  outcome.text = fmt::format("{}\n# tasks, one a line:\n", array);
  std::vector<std::string> commands;
  for (const SlurmTask& task : launch.tasks) {
    outcome.text += fmt::format("# {}\n", task.command);
    commands.push_back(task.command);
  }
  outcome.text += fmt::format("\n# then:\n{}", collect);
  outcome.object = {{"directory", launch.folder},
                    {"array_script", array},
                    {"tasks", commands},
                    {"collect_script", collect}};
  return outcome;
}

// What an earlier command launched in the same folder, if it was the same.
void TakeOverJobs(SlurmLaunch& launch) {
  if (!fs::exists(launch.File("launch.json"))) return;
  const SlurmLaunch before = SlurmLaunch::Load(launch.folder);
  const bool same =
      std::ranges::equal(before.tasks, launch.tasks,
                         [](const SlurmTask& a, const SlurmTask& b) { return a.run == b.run; });
  if (!same) return;
  launch.jobs = before.jobs;
  launch.submitted = before.submitted;
  launch.collect_job = before.collect_job;
}

// Adds the words of an option that has a value.
void AddOption(std::string& command, const char* name, const std::string& value) {
  if (!value.empty()) command += fmt::format(" {} {}", name, ShellWord(value));
}

// `lfiw run` or `lfiw bench` of these overrides.
std::string RunWords(const RunOptions& options, const CommonOptions& common, const SweepRun& run,
                     const char* sweep_flag) {
  std::string command = fmt::format("{} {} {}", ProgramWords(options.launcher),
                                    options.kind == ExperimentKind::kBench ? "bench" : "run",
                                    ShellWord(options.config));
  command += sweep_flag;
  for (const std::string& override : run.overrides) command += " " + ShellWord(override);
  AddOption(command, "--out", run.out);
  AddOption(command, "--cache", options.cache);
  return command + ThreadsWords(common);
}

// The resolved configuration of a run, and where it goes if nothing else is said.
struct Resolved {
  std::string settings;
  std::string directory;
};

Resolved Resolve(const RunOptions& options, const SweepRun& run) {
  RunPlan plan;
  plan.config = options.config;
  plan.overrides = run.overrides;
  plan.out = run.out;
  plan.cache = options.cache;
  plan.dry_run = true;
  plan.kind = options.kind;
  const Outcome outcome = RunExperiment(plan);
  return {Sha256Hex(outcome.object.at("configuration").get<std::string>()),
          outcome.object.at("directory").get<std::string>()};
}

std::string StemOf(const std::string& path) { return fs::path(path).stem().string(); }

SlurmLaunch SweepLaunch(RunOptions options, const CommonOptions& common) {
  if (options.out.empty()) {
    std::string text = options.config;
    for (const std::string& override : options.overrides) text += " " + override;
    options.out = DefaultRunDirectory("outputs", StemOf(options.config) + "_sweep", text);
  }
  SlurmLaunch launch;
  launch.folder = options.out;
  launch.name = StemOf(options.config);
  for (const SweepRun& run : RunsOf(options)) {
    launch.tasks.push_back(
        {RunWords(options, common, run, ""), run.out, Resolve(options, run).settings});
  }
  launch.collect = RunWords(options, common, {options.overrides, options.out}, " -m");
  launch.collected = options.out + "/sweep.csv";
  return launch;
}

SlurmLaunch WorkersLaunch(const RunOptions& options, const CommonOptions& common) {
  SweepRun run{options.overrides, options.out};
  const Resolved resolved = Resolve(options, run);
  run.out = resolved.directory;
  SlurmLaunch launch;
  launch.folder = run.out;
  launch.name = StemOf(options.config);
  launch.collect = RunWords(options, common, run, "");
  launch.collected = run.out + "/report.html";
  launch.tasks.assign(static_cast<std::size_t>(options.launcher.workers),
                      {launch.collect + " --work-only", run.out, resolved.settings});
  return launch;
}

}  // namespace

std::string ProgramWords(const SlurmOptions& options) {
  if (!options.within.empty()) return options.within + " lfiw";
  return ShellWord(fs::read_symlink("/proc/self/exe").string());
}

std::string ThreadsWords(const CommonOptions& common) {
  if (common.threads > 0) return fmt::format(" --threads {}", common.threads);
  return " --threads ${SLURM_CPUS_PER_TASK:-1}";
}

Outcome Launch(const LaunchPlan& plan) {
  SlurmLaunch launch = plan.launch;
  if (plan.dry_run) return DryRun(launch, plan.options);
  RequireSlurm();
  TakeOverJobs(launch);
  const SlurmQueue queue = AskQueue();
  const std::vector<std::int64_t> missing = Missing(StatusOf(launch, queue));
  std::vector<std::string> active = ActiveTasks(launch, queue);
  const bool collected = missing.empty() && active.empty() && fs::exists(launch.collected);
  Outcome outcome;
  outcome.object = {{"directory", launch.folder},
                    {"tasks", missing},
                    {"job", nullptr},
                    {"collecting_job", nullptr}};
  if (collected) {
    outcome.text =
        fmt::format("all {} tasks are done: {}\n", launch.tasks.size(), launch.collected);
    return outcome;
  }
  WriteScripts(launch, plan.options, missing);
  if (!missing.empty()) {
    const std::string job = SubmitArray(missing, launch);
    active.push_back(job);
    outcome.object["job"] = job;
    outcome.text = fmt::format("job {}: tasks {} of {}, {}\n", job, RangeText(missing),
                               launch.tasks.size(), launch.File("array.sh"));
  }
  if (missing.empty() && queue.contains(launch.collect_job)) {
    outcome.text += fmt::format("nothing is missing; job {} collects\n", launch.collect_job);
    return outcome;
  }
  SubmitCollecting(active, queue, launch);
  outcome.object["collecting_job"] = launch.collect_job;
  outcome.text +=
      fmt::format("job {}: collects them, {}\nstate: lfiw status {}\n", launch.collect_job,
                  launch.File("collect.sh"), ShellWord(launch.folder));
  return outcome;
}

Outcome LaunchRuns(const RunOptions& options, const CommonOptions& common) {
  const SlurmLaunch launch =
      options.multirun ? SweepLaunch(options, common) : WorkersLaunch(options, common);
  return Launch({launch, options.launcher, options.dry_run});
}

}  // namespace lfiw::experiments
