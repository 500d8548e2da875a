#include "experiments/cli/slurm_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/sha256.h"
#include "experiments/presentation/stage_files.h"
#include "experiments/presentation/subprocess.h"

namespace lfiw::experiments {
namespace {

namespace fs = std::filesystem;

// Seconds before the time limit of a job at which its program is asked to write checkpoints.
constexpr int kSecondsToLeave = 120;
constexpr double kQueueSeconds = 60.0;

// Names of jobs are made of letters, digits and _.
std::string JobName(const std::string& name) {
  std::string out = "lfiw_";
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return out;
}

std::string Header(const SlurmOptions& options, const std::string& name, const std::string& log) {
  std::string text = "#!/bin/bash\n";
  const auto add = [&](const std::string& option) { text += fmt::format("#SBATCH {}\n", option); };
  add("--job-name=" + name);
  add("--output=" + log);
  add("--open-mode=append");
  add("--requeue");
  add(fmt::format("--signal=B:USR1@{}", kSecondsToLeave));
  add("--nodes=1");
  add("--ntasks=1");
  add(fmt::format("--cpus-per-task={}", options.cpus_per_task));
  if (!options.partition.empty()) add("--partition=" + options.partition);
  if (!options.account.empty()) add("--account=" + options.account);
  if (!options.time.empty()) add("--time=" + options.time);
  if (!options.memory.empty()) add("--mem=" + options.memory);
  for (const std::string& line : options.sbatch) add(line);
  return text;
}

// Runs the words in `command`. Bash must not end before its program, which may need seconds to
// write its checkpoints. A second SIGTERM would end the program at once, so none is handed on.
constexpr const char* kBody = R"(
# Written by lfiw. SIGUSR1 comes to this shell alone before the time limit: the program is asked to
# write its checkpoints, and the task is queued again. SIGTERM, of scancel and preemption, comes to
# the program too, which ends at a checkpoint.
echo "lfiw: $(hostname), try $((${{SLURM_RESTART_COUNT:-0}} + 1)): $command"
bash -c "exec $command" &
program=$!
again=no
trap 'again=yes; kill -TERM "$program" 2>/dev/null' USR1
trap : TERM INT
while kill -0 "$program" 2>/dev/null; do wait "$program"; done
wait "$program"
status=$?
if [ "$again" = yes ] && [ "$status" -eq 143 ]; then
  scontrol requeue "{}"
fi
if [ "$status" -eq 0 ] && [ -n "$mark" ]; then echo "$settings" > "$mark"; fi
exit "$status"
)";

// Where a task leaves word that it has ended: the run of a sweep's has results of its own.
std::string MarkOf(const SlurmLaunch& launch) {
  const SlurmTask& first = launch.tasks.front();
  const bool workers = std::ranges::all_of(
      launch.tasks, [&](const SlurmTask& task) { return task.run == first.run; });
  if (!workers) return "mark=\n";
  return fmt::format("mark={}/slurm/$SLURM_ARRAY_TASK_ID.done\nsettings={}\n",
                     ShellWord(launch.folder), first.settings);
}

std::string Preparation(const SlurmOptions& options, const std::string& work_folder) {
  std::string text = fmt::format("\ncd {} || exit 1\n", ShellWord(work_folder));
  for (const std::string& line : options.prelude) text += line + "\n";
  return text;
}

}  // namespace

std::string SlurmLaunch::LogOf(std::int64_t task) const {
  return File(fmt::format("{}.log", task));
}

void SlurmLaunch::Save() const {
  nlohmann::json list = nlohmann::json::array();
  for (const SlurmTask& task : tasks) {
    list.push_back({{"command", task.command}, {"run", task.run}, {"settings", task.settings}});
  }
  CreateDirectories(folder + "/slurm");
  WriteJson({{"name", name},
             {"tasks", list},
             {"collect", collect},
             {"collected", collected},
             {"jobs", jobs},
             {"submitted", submitted},
             {"collect_job", collect_job}},
            File("launch.json"));
}

SlurmLaunch SlurmLaunch::Load(const std::string& folder) {
  const std::string path = folder + "/slurm/launch.json";
  if (!fs::exists(path)) {
    Throw<DataError>("{}: nothing was launched in this folder (there is no slurm/launch.json)",
                     folder);
  }
  const nlohmann::json json = ReadJson(path);
  try {
    SlurmLaunch launch;
    launch.folder = folder;
    launch.name = json.at("name");
    for (const nlohmann::json& task : json.at("tasks")) {
      launch.tasks.push_back({task.at("command"), task.at("run"), task.at("settings")});
    }
    launch.collect = json.at("collect");
    launch.collected = json.at("collected");
    launch.jobs = json.at("jobs").get<std::vector<std::string>>();
    launch.submitted = json.at("submitted").get<std::vector<std::int64_t>>();
    launch.collect_job = json.at("collect_job");
    return launch;
  } catch (const nlohmann::json::exception& error) {
    Throw<DataError>("{}: is not what a launcher wrote: {}", path, error.what());
  }
}

SlurmQueue ParseQueue(const std::string& text) {
  SlurmQueue queue;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string job, task;
    QueuedJob entry;
    if (!std::getline(fields, job, '|') || !std::getline(fields, task, '|') ||
        !std::getline(fields, entry.state, '|')) {
      continue;
    }
    std::getline(fields, entry.node);
    const bool in_array = !task.empty() && std::ranges::all_of(task, [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    queue[in_array ? fmt::format("{}_{}", job, task) : job] = std::move(entry);
  }
  return queue;
}

SlurmQueue AskQueue() {
  return ParseQueue(
      RunProgram({"squeue", "--me", "--noheader", "--array", "--format", kQueueFormat}, "",
                 kQueueSeconds, ProgramEnvironment::kWhole));
}

bool IsDone(const SlurmLaunch& launch, std::int64_t number) {
  const SlurmTask& task = launch.tasks[static_cast<std::size_t>(number)];
  const std::string settings = task.run + "/config.yaml";
  if (fs::exists(task.run + "/manifest.json") && fs::exists(settings) &&
      Sha256HexOfFile(settings) == task.settings) {
    return true;
  }
  // a worker writes no results
  return LastLineOf(launch.File(fmt::format("{}.done", number))) == task.settings;
}

std::vector<TaskStatus> StatusOf(const SlurmLaunch& launch, const SlurmQueue& queue) {
  std::vector<TaskStatus> all(launch.tasks.size());
  for (std::size_t t = 0; t < all.size(); ++t) {
    TaskStatus& status = all[t];
    const auto task = static_cast<std::int64_t>(t);
    bool queued = false;
    for (const std::string& job : launch.jobs) {
      const auto found = queue.find(fmt::format("{}_{}", job, task));
      if (found == queue.end()) continue;
      queued = true;
      const bool waits = found->second.state == "PENDING" || found->second.state == "REQUEUED";
      status.state = waits ? TaskState::kQueued : TaskState::kRunning;
      status.node = found->second.node;
    }
    if (queued) continue;
    if (IsDone(launch, task)) {
      status.state = TaskState::kDone;
    } else if (std::ranges::binary_search(launch.submitted, task)) {
      status.state = TaskState::kFailed;
      status.last_line = LastLineOf(launch.LogOf(task));
    }
  }
  return all;
}

std::string LastLineOf(const std::string& path) {
  if (!fs::exists(path)) return "";
  const std::string text = ReadFile(path);
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  // a progress bar on a terminal ends its lines by carriage returns
  const std::size_t line = text.find_last_of("\r\n", end);
  return text.substr(line == std::string::npos ? 0 : line + 1,
                     end - (line == std::string::npos ? 0 : line + 1) + 1);
}

std::string RangeText(std::span<const std::int64_t> numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    parts.push_back(j == i ? fmt::format("{}", numbers[i])
                           : fmt::format("{}-{}", numbers[i], numbers[j]));
    i = j + 1;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string ArrayScript(const SlurmLaunch& launch, const SlurmOptions& options,
                        std::span<const std::int64_t> tasks, const std::string& work_folder) {
  std::string array = RangeText(tasks);
  if (options.array_parallelism > 0) array += fmt::format("%{}", options.array_parallelism);
  std::string text = Header(options, JobName(launch.name), launch.File("%a.log"));
  text += fmt::format("#SBATCH --array={}\n", array);
  text += Preparation(options, work_folder);
  text += fmt::format("command=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" {})\n",
                      ShellWord(launch.File("tasks")));
  text += MarkOf(launch);
  text += fmt::format(kBody, "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}");
  return text;
}

std::string CollectScript(const SlurmLaunch& launch, const SlurmOptions& options,
                          const std::string& work_folder) {
  std::string text = Header(options, JobName(launch.name + "_collect"), launch.File("collect.log"));
  text += Preparation(options, work_folder);
  text += fmt::format("command={}\nmark=\n", ShellWord(launch.collect));
  text += fmt::format(kBody, "${SLURM_JOB_ID}");
  return text;
}

std::string ShellWord(const std::string& word) {
  static constexpr std::string_view kQuotedCharacters = " \t\n'\"\\$`&|;<>()[]{}*?!#~";
  if (!word.empty() && word.find_first_of(kQuotedCharacters) == std::string::npos) return word;
  std::string quoted(1, '\'');
  for (const char c : word) {
    if (c == '\'') quoted.append("'\\'");
    quoted.push_back(c);
  }
  quoted.push_back('\'');
  return quoted;
}

}  // namespace lfiw::experiments
