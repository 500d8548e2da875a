#include "core/run/cache_inventory.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <tuple>

#include "core/error.h"
#include "core/run/file_lock.h"
#include "core/run/stage_cache.h"

namespace lfiw::core {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

constexpr std::string_view kWorkSuffix = ".work";
constexpr std::string_view kLockSuffix = ".lock";

std::int64_t BytesIn(const fs::path& directory) {
  std::int64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(directory, ignored)) {
    if (entry.is_regular_file(ignored))
      bytes += static_cast<std::int64_t>(entry.file_size(ignored));
  }
  return bytes;
}

// The lock file of an entry, whose time tells when the stage was last asked for.
fs::path LockOf(const fs::path& directory) {
  std::string path = directory.string();
  if (path.ends_with(kWorkSuffix)) path.resize(path.size() - kWorkSuffix.size());
  return path + std::string(kLockSuffix);
}

Clock::time_point LastUseOf(const fs::path& directory) {
  std::error_code error;
  fs::file_time_type time = fs::last_write_time(LockOf(directory), error);
  if (error) time = fs::last_write_time(directory, error);
  if (error) return {};
  return std::chrono::time_point_cast<Clock::duration>(std::chrono::file_clock::to_sys(time));
}

CacheEntry EntryAt(const std::string& stage, const fs::path& directory) {
  CacheEntry entry{.stage = stage,
                   .directory = directory.string(),
                   .bytes = BytesIn(directory),
                   .last_used = LastUseOf(directory),
                   .id = {}};
  if (entry.directory.ends_with(kWorkSuffix)) {
    entry.state = EntryState::kUnfinished;
    return entry;
  }
  entry.id = ReadSeal(entry.directory);
  if (!entry.id) entry.state = EntryState::kForeign;
  return entry;
}

void Remove(const std::string& directory) {
  std::error_code error;
  fs::remove_all(directory, error);
  if (error) Throw<DataError>("cannot remove {}: {}", directory, error.message());
  fs::remove(CostFileOf(directory), error);
}

}  // namespace

std::vector<CacheEntry> ListCache(const std::string& root) {
  std::vector<CacheEntry> entries;
  std::error_code none;
  for (const auto& stage : fs::directory_iterator(root, none)) {
    if (!stage.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(stage.path())) {
      if (entry.is_directory()) {
        entries.push_back(EntryAt(stage.path().filename().string(), entry.path()));
      }
    }
  }
  std::ranges::sort(entries, [](const CacheEntry& a, const CacheEntry& b) {
    return std::tie(a.stage, a.directory) < std::tie(b.stage, b.directory);
  });
  return entries;
}

bool IsIntact(const CacheEntry& entry) {
  return entry.id && VerifySeal(*entry.id, entry.directory).has_value();
}

PruneResult PruneCache(const std::string& root, Clock::time_point limit, Pruning pruning) {
  PruneResult result;
  for (const CacheEntry& entry : ListCache(root)) {
    if (entry.last_used >= limit) continue;
    // lock files stay: a process may be waiting for one
    const std::string lock_file = LockOf(entry.directory).string();
    const Clock::time_point used = entry.last_used;
    const std::unique_ptr<FileLock> lock = FileLock::Try(lock_file);
    if (lock == nullptr || LastUseOf(entry.directory) > std::max(used, limit)) {
      ++result.in_use;
      continue;
    }
    ++result.entries;
    result.bytes += entry.bytes;
    if (pruning == Pruning::kDelete) Remove(entry.directory);
  }
  return result;
}

}  // namespace lfiw::core
