#include "experiments/cli/slurm_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/config/visitor.h"
#include "core/quoted.h"
#include "core/run/text_table.h"
#include "experiments/cli/slurm_launch.h"
#include "experiments/presentation/subprocess.h"

namespace lfiw::experiments {
namespace {

// The state of the collecting job.
TaskStatus CollectingStatus(const SlurmLaunch& launch, const SlurmQueue& queue) {
  TaskStatus status;
  if (const auto found = queue.find(launch.collect_job); found != queue.end()) {
    status.state = found->second.state == "PENDING" ? TaskState::kQueued : TaskState::kRunning;
    status.node = found->second.node;
  } else if (std::filesystem::exists(launch.collected)) {
    status.state = TaskState::kDone;
  } else if (!launch.collect_job.empty()) {
    status.state = TaskState::kFailed;
    status.last_line = LastLineOf(launch.File("collect.log"));
  }
  return status;
}

std::string Remark(const TaskStatus& status) {
  return status.last_line.empty() ? status.node : OneLine(status.last_line);
}

nlohmann::ordered_json JsonOf(const TaskStatus& status) {
  nlohmann::ordered_json one = {
      {"state", EnumName(status.state)}, {"node", nullptr}, {"last_line", nullptr}};
  if (!status.node.empty()) one["node"] = status.node;
  if (!status.last_line.empty()) one["last_line"] = status.last_line;
  return one;
}

}  // namespace

Outcome SlurmStatus(const std::string& folder) {
  const SlurmLaunch launch = SlurmLaunch::Load(folder);
  SlurmQueue queue;
  std::string note;
  try {
    queue = AskQueue();
  } catch (const ProgramError& error) {
    note = fmt::format("Slurm cannot be asked, so what runs is not known: {}", error.what());
  }
  const std::vector<TaskStatus> tasks = StatusOf(launch, queue);
  const TaskStatus collecting = CollectingStatus(launch, queue);

  Outcome outcome;
  outcome.object = {
      {"directory", folder}, {"jobs", launch.jobs}, {"tasks", nlohmann::ordered_json::array()}};
  std::vector<std::vector<std::string>> lines;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    lines.push_back({std::to_string(t), launch.tasks[t].run, std::string(EnumName(tasks[t].state)),
                     Remark(tasks[t])});
    nlohmann::ordered_json one = {{"task", t}, {"run", launch.tasks[t].run}};
    one.update(JsonOf(tasks[t]));
    outcome.object["tasks"].push_back(std::move(one));
  }
  lines.push_back(
      {"collect", launch.collected, std::string(EnumName(collecting.state)), Remark(collecting)});
  outcome.object["collecting"] = JsonOf(collecting);
  outcome.text = FormatTextTable({"task", "run", "state", "remark"}, lines);
  const auto count = [&](TaskState state) {
    return std::ranges::count(tasks, state, &TaskStatus::state);
  };
  outcome.text +=
      fmt::format("{} done, {} running, {} queued, {} failed, {} to do\n", count(TaskState::kDone),
                  count(TaskState::kRunning), count(TaskState::kQueued), count(TaskState::kFailed),
                  count(TaskState::kToDo));
  if (!note.empty()) {
    outcome.text += note + "\n";
    outcome.object["note"] = note;
  }
  return outcome;
}

}  // namespace lfiw::experiments
