#include "experiments/presentation/stage_costs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/run/text_table.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

struct Cost {
  std::string name;
  std::int64_t calls = 0, kept = 0;
  double cpu_seconds = 0.0, seconds = 0.0;
  std::int64_t peak_memory_bytes = 0;
};

std::vector<Cost> CostsByName(const std::vector<StageRecord>& records) {
  std::vector<Cost> costs;
  for (const StageRecord& record : records) {
    auto cost = std::ranges::find(costs, record.name, &Cost::name);
    if (cost == costs.end()) cost = costs.insert(costs.end(), {.name = record.name});
    ++cost->calls;
    cost->kept += record.outcome == StageOutcome::kReused ? 1 : 0;
    cost->cpu_seconds += record.cpu_seconds;
    cost->seconds += record.seconds;
    cost->peak_memory_bytes = std::max(cost->peak_memory_bytes, record.peak_memory_bytes);
  }
  std::ranges::stable_sort(costs, std::greater<>(), &Cost::cpu_seconds);
  return costs;
}

std::string SecondsText(double seconds) { return fmt::format("{:.1f}", seconds); }

}  // namespace

std::string StageCostTable(const std::vector<StageRecord>& records, const ProcessCost& process) {
  std::vector<std::vector<std::string>> rows;
  double in_stages = 0.0;
  for (const Cost& cost : CostsByName(records)) {
    in_stages += cost.cpu_seconds;
    rows.push_back({cost.name, std::to_string(cost.calls), std::to_string(cost.kept),
                    SecondsText(cost.cpu_seconds), SecondsText(cost.seconds),
                    BytesText(cost.peak_memory_bytes)});
  }
  rows.push_back(
      {"all else", "", "", SecondsText(std::max(process.cpu_seconds - in_stages, 0.0)), "", ""});
  rows.push_back({"the run", "", "", SecondsText(process.cpu_seconds), "",
                  BytesText(process.peak_memory_bytes)});
  return FormatTextTable({"stage", "runs", "kept", "CPU s", "wall s", "peak memory"}, rows);
}

}  // namespace lfiw::experiments
