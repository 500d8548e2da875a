#include "experiments/presentation/stage_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/config/visitor.h"
#include "core/run/text_table.h"

namespace lfiw::experiments {
namespace {

// As many digits as names of folders in the cache begin with.
constexpr std::size_t kShortKey = 12;

std::string WhereText(const StageState& stage) {
  if (stage.kind == StageState::Kind::kRunning) {
    return stage.host.empty() ? "elsewhere" : fmt::format("{} {}", stage.host, stage.process);
  }
  return stage.cost ? stage.cost->host : "";
}

std::string CpuText(const StageState& stage) {
  if (!stage.cost || !stage.cost->cpu_seconds) return "";
  return fmt::format("{:.1f}", *stage.cost->cpu_seconds);
}

std::int64_t CountOf(std::span<const StageState> stages, StageState::Kind kind) {
  return std::ranges::count(stages, kind, &StageState::kind);
}

}  // namespace

std::vector<StageState> WithExpected(std::vector<StageState> found,
                                     std::span<const ExpectedStage> expected) {
  std::map<std::string, std::int64_t> counts;
  for (const StageState& stage : found) ++counts[stage.name];
  for (const ExpectedStage& stage : expected) {
    for (std::int64_t i = 0; i < stage.count; ++i) {
      if (counts[stage.name]-- <= 0) found.push_back({.name = stage.name, .key = ""});
    }
  }
  return found;
}

std::string StageListText(std::span<const StageState> stages) {
  std::vector<std::vector<std::string>> lines;
  for (const StageState& stage : stages) {
    lines.push_back({stage.name, stage.key.substr(0, kShortKey), std::string(EnumName(stage.kind)),
                     WhereText(stage), CpuText(stage)});
  }
  return fmt::format("{}{} done, {} running, {} to do\n",
                     FormatTextTable({"stage", "key", "state", "where", "CPU s"}, lines),
                     CountOf(stages, StageState::Kind::kDone),
                     CountOf(stages, StageState::Kind::kRunning),
                     CountOf(stages, StageState::Kind::kToDo));
}

nlohmann::ordered_json StageListJson(std::span<const StageState> stages) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StageState& stage : stages) {
    nlohmann::ordered_json one = {
        {"stage", stage.name}, {"key", nullptr},     {"state", EnumName(stage.kind)},
        {"host", nullptr},     {"process", nullptr}, {"cpu_seconds", nullptr},
        {"seconds", nullptr}};
    if (!stage.key.empty()) one["key"] = stage.key;
    if (!stage.host.empty()) one["host"] = stage.host;
    if (stage.process != 0) one["process"] = stage.process;
    if (stage.cost) {
      if (!stage.cost->host.empty()) one["host"] = stage.cost->host;
      if (stage.cost->cpu_seconds) one["cpu_seconds"] = *stage.cost->cpu_seconds;
      one["seconds"] = stage.cost->seconds;
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace lfiw::experiments
