#include "experiments/cli/cache_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/run/text_table.h"
#include "experiments/presentation/number_text.h"
#include "experiments/presentation/toolchain.h"

namespace lfiw::experiments {
namespace {

using Clock = std::chrono::system_clock;

std::string TimeText(Clock::time_point time) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(Clock::to_time_t(time)));
}

// Says why a run of this program would not take an entry, or that it would.
std::string UseText(const CacheEntry& entry, const Toolchain& toolchain) {
  if (entry.state != EntryState::kWhole) return std::string(EnumName(entry.state));
  std::string differences;
  const auto add = [&](const std::string& what) {
    differences += (differences.empty() ? "of another " : ", ") + what;
  };
  bool known = false;
  for (std::size_t layer = 0; layer < EnumNames(Layer{}).size(); ++layer) {
    known = known || entry.id->sources == toolchain.SourceHash(static_cast<Layer>(layer));
  }
  if (!known) add("lfiw");
  for (const auto& [name, version] : toolchain.computed_with) {
    const auto found = entry.id->computed_with.find(name);
    if (found == entry.id->computed_with.end() || found->second != version) add(name);
  }
  return differences.empty() ? "current" : differences;
}

}  // namespace

std::chrono::seconds ParseAge(const std::string& text) {
  static const std::map<char, int> units = {{'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
  std::int64_t count = -1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc() && end - rest == 1 && count >= 0 && count < 1'000'000 &&
      units.contains(*rest)) {
    return std::chrono::seconds(count * units.at(*rest));
  }
  Throw<ConfigError>("--older-than {}: expected a number and a unit, such as 90m, 12h, 30d or 2w",
                     text);
}

Outcome ListCacheEntries(const std::string& cache) {
  const Toolchain toolchain = CurrentToolchain();
  std::vector<std::vector<std::string>> lines;
  auto entries = nlohmann::ordered_json::array();
  for (const CacheEntry& entry : ListCache(cache)) {
    const std::string use = UseText(entry, toolchain);
    lines.push_back(
        {entry.stage, BytesText(entry.bytes), TimeText(entry.last_used), use, entry.directory});
    entries.push_back({{"stage", entry.stage},
                       {"bytes", entry.bytes},
                       {"last_used", Clock::to_time_t(entry.last_used)},
                       {"made", use},
                       {"folder", entry.directory}});
  }
  return {.text = lines.empty()
                      ? fmt::format("{}: no stages\n", cache)
                      : FormatTextTable({"stage", "size", "last used", "made", "folder"}, lines),
          .object = {{"cache", cache}, {"entries", std::move(entries)}}};
}

Outcome MeasureCache(const std::string& cache) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> stages;
  std::int64_t entries = 0, bytes = 0;
  for (const CacheEntry& entry : ListCache(cache)) {
    auto& [count, size] = stages[entry.stage];
    ++count;
    size += entry.bytes;
    ++entries;
    bytes += entry.bytes;
  }
  std::vector<std::vector<std::string>> lines;
  auto sizes = nlohmann::ordered_json::array();
  for (const auto& [stage, counts] : stages) {
    lines.push_back({stage, fmt::format("{}", counts.first), BytesText(counts.second)});
    sizes.push_back({{"stage", stage}, {"entries", counts.first}, {"bytes", counts.second}});
  }
  lines.push_back({"all", fmt::format("{}", entries), BytesText(bytes)});
  return {
      .text = FormatTextTable({"stage", "entries", "size"}, lines),
      .object = {
          {"cache", cache}, {"entries", entries}, {"bytes", bytes}, {"stages", std::move(sizes)}}};
}

Outcome PruneCacheEntries(const std::string& cache, const std::string& older_than,
                          Pruning pruning) {
  const PruneResult result = PruneCache(cache, Clock::now() - ParseAge(older_than), pruning);
  Outcome outcome;
  outcome.text = fmt::format("{} {} entries of {}, {}, that no run has asked for in {}\n",
                             pruning == Pruning::kDelete ? "deleted" : "would delete",
                             result.entries, cache, BytesText(result.bytes), older_than);
  if (result.in_use > 0) {
    outcome.text += fmt::format("kept {} that a process is using\n", result.in_use);
  }
  outcome.object = {{"cache", cache},
                    {"deleted", pruning == Pruning::kDelete},
                    {"entries", result.entries},
                    {"bytes", result.bytes},
                    {"in_use", result.in_use}};
  return outcome;
}

Outcome VerifyCacheEntries(const std::string& cache) {
  Outcome outcome;
  std::int64_t whole = 0;
  auto damaged = nlohmann::ordered_json::array();
  for (const CacheEntry& entry : ListCache(cache)) {
    if (entry.state == EntryState::kUnfinished) continue;
    if (IsIntact(entry)) {
      ++whole;
      continue;
    }
    damaged.push_back(entry.directory);
    outcome.text +=
        fmt::format("damaged: {} (a run that needs it will compute it again)\n", entry.directory);
  }
  outcome.text += fmt::format("{}: {} whole, {} damaged\n", cache, whole, damaged.size());
  outcome.status = damaged.empty() ? 0 : 2;
  outcome.object = {{"cache", cache}, {"whole", whole}, {"damaged", std::move(damaged)}};
  return outcome;
}

}  // namespace lfiw::experiments
