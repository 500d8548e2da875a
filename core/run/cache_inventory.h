#ifndef LFIW_CORE_RUN_CACHE_INVENTORY_H_
#define LFIW_CORE_RUN_CACHE_INVENTORY_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/run/stage.h"

namespace lfiw::core {

// What a stage cache holds on disk, whoever made it.

enum class EntryState {
  kWhole,       // an artifact with its seal
  kUnfinished,  // what a running or killed try has left, which the next try resumes from
  kForeign,     // a folder without a readable seal
};
constexpr auto EnumNames(EntryState /*kind*/) {
  return std::to_array<std::string_view>({"whole", "unfinished", "foreign"});
}

struct CacheEntry {
  std::string stage;      // "dynamics"
  std::string directory;  // absolute or relative as the cache's root was
  EntryState state = EntryState::kWhole;
  std::int64_t bytes = 0;
  std::chrono::system_clock::time_point last_used;  // when a run last asked for it
  std::optional<StageId> id;                        // of whole entries
};

// Lists the entries of the cache at `root`, by stage and then by name; none if there is no such
// folder.
std::vector<CacheEntry> ListCache(const std::string& root);

// True if the files of an entry are exactly those that its seal names, byte for byte.
bool IsIntact(const CacheEntry& entry);

enum class Pruning { kReport, kDelete };

struct PruneResult {
  std::int64_t entries = 0;  // deleted, or to be deleted
  std::int64_t bytes = 0;
  std::int64_t in_use = 0;  // old enough, but a process holds their lock: kept
};

// Deletes (or only counts) the entries that no run has asked for since `limit`. Throws DataError
// when one cannot be deleted.
PruneResult PruneCache(const std::string& root, std::chrono::system_clock::time_point limit,
                       Pruning pruning);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_CACHE_INVENTORY_H_
