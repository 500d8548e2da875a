#include "core/run/stage_cache.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/file_lock.h"
#include "core/run/host_name.h"
#include "core/run/progress.h"
#include "core/run/sha256.h"
#include "core/run/system_info.h"

namespace lfiw::core {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Lists the files of an artifact with their hashes; written last, so it marks completeness.
constexpr const char* kSealName = "stage.json";
// A directory name need not be the whole key.
constexpr std::size_t kNameDigits = 20;

void RemoveAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) Throw<DataError>("cannot remove {}: {}", path, error.message());
}

// Whether there is anything at `path`, be it a link that leads nowhere.
bool IsTaken(const std::string& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() > fs::file_type::not_found;
}

// Throws DataError where something stands that the cache did not put there.
void RequireKind(const std::string& path, fs::file_type expected) {
  if (!IsTaken(path)) return;
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == expected) return;
  const char* kind = "special file";
  if (type == fs::file_type::directory) kind = "folder";
  if (type == fs::file_type::regular) kind = "file";
  if (type == fs::file_type::not_found) kind = "link that leads nowhere";
  Throw<DataError>("the cache cannot use {}: it is a {}, expected a {}; it may be deleted", path,
                   kind, expected == fs::file_type::directory ? "folder" : "file");
}

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Relative names of the files that make up the artifact in `directory`, sorted.
std::vector<std::string> ListFiles(const std::string& directory) {
  std::vector<std::string> names;
  const std::string checkpoints = std::string(kCheckpointFolder) + "/";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().lexically_relative(directory).string();
    const bool ignored =
        name == kSealName || name.starts_with(checkpoints) || IsHidden(entry.path());
    if (entry.is_regular_file() && !ignored) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A path need not be UTF-8, and must not stop the work for that.
std::string Dump(const ordered_json& json) {
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// The hash of every file, by name.
ordered_json HashFiles(const std::string& directory) {
  ordered_json files = ordered_json::object();
  for (const std::string& name : ListFiles(directory)) {
    files[name] = Sha256HexOfFile(directory + "/" + name);
  }
  return files;
}

// Makes everything in `directory` durable and seals it. Returns the content hash.
std::string Seal(const StageId& stage, const std::string& directory) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    SyncToDisk(entry.path().string());
  }
  ordered_json seal = ordered_json::parse(DescribeStage(stage));
  seal["files"] = HashFiles(directory);
  WriteFileAtomically(directory + "/" + kSealName, Dump(seal));
  return Sha256Hex(Dump(seal["files"]));
}

// Moves a sealed artifact to its final name without what does not belong to it. Checkpoints go only
// now: a program killed while sealing still finds them.
void Publish(const StageId& stage, const std::string& work, const std::string& directory) {
  RemoveAll(work + "/" + kCheckpointFolder);
  std::vector<fs::path> hidden;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(work)) {
    if (IsHidden(entry.path())) hidden.push_back(entry.path());
  }
  for (const fs::path& path : hidden) RemoveAll(path.string());
  std::error_code error;
  fs::rename(work, directory, error);
  // on a file system of several machines one may learn late what another has published
  if (error && VerifySeal(stage, directory)) {
    RemoveAll(work);
    return;
  }
  if (error) Throw<DataError>("cannot rename {} to {}: {}", work, directory, error.message());
  SyncToDisk(fs::path(directory).parent_path().string());
}

// Reads the content hash that a seal states, without a look at the files.
std::optional<std::string> StatedHash(const std::string& directory) {
  try {
    const ordered_json seal = ordered_json::parse(ReadFile(directory + "/" + kSealName));
    return Sha256Hex(Dump(seal.at("files")));
  } catch (const DataError&) {
    return std::nullopt;
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  }
}

// Notes that a run has asked for a stage, which `lfiw cache prune` goes by.
void Touch(const std::string& lock_file) {
  fs::last_write_time(lock_file, fs::file_time_type::clock::now());
}

bool IsName(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

}  // namespace

std::string CostFileOf(const std::string& directory) { return directory + ".seconds"; }

std::optional<StageCost> ReadCost(const std::string& directory) {
  try {
    const ordered_json cost = ordered_json::parse(ReadFile(CostFileOf(directory)));
    // the wall time alone, in caches of earlier versions
    if (cost.is_number()) return StageCost{.seconds = cost.get<double>()};
    return StageCost{.seconds = cost.at("seconds").get<double>(),
                     .cpu_seconds = cost.at("cpu_seconds").get<double>(),
                     .host = cost.at("host").get<std::string>()};
  } catch (const DataError&) {
    return std::nullopt;
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  }
}

std::optional<std::string> VerifySeal(const StageId& stage, const std::string& directory) {
  try {
    const std::string text = ReadFile(directory + "/" + kSealName);
    ordered_json seal = ordered_json::parse(text);
    const ordered_json files = seal.at("files");
    seal.erase("files");
    if (seal != ordered_json::parse(DescribeStage(stage)) || files != HashFiles(directory))
      return std::nullopt;
    return Sha256Hex(Dump(files));
  } catch (const DataError&) {
    return std::nullopt;
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  }
}

std::optional<StageId> ReadSeal(const std::string& directory) {
  try {
    const ordered_json seal = ordered_json::parse(ReadFile(directory + "/" + kSealName));
    return StageId{.name = seal.at("stage"),
                   .key = seal.at("key"),
                   .inputs = seal.at("inputs"),
                   .version = seal.at("version"),
                   .sources = seal.at("sources"),
                   .computed_with = seal.at("computed_with")};
  } catch (const DataError&) {
    return std::nullopt;
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  }
}

// The paths of a stage in the cache.
struct StageCache::Entry {
  std::string key;
  std::string directory;  // of the artifact
  std::string lock_file;
  std::string work;
};

StageCache::StageCache(std::string root, Toolchain toolchain, CacheUse use)
    : root_(std::move(root)), toolchain_(std::move(toolchain)), use_(use) {
  if (use_ != CacheUse::kList) CreateDirectories(root_);
}

std::string StageCache::Directory(const StageId& stage, const std::string& hash) const {
  LFIW_ASSERT(IsName(stage.name));
  return fmt::format("{}/{}/{}", root_, stage.name, hash.substr(0, kNameDigits));
}

StageCache::Entry StageCache::EntryOf(const StageId& stage) const {
  Entry entry;
  entry.key = stage.Hash();
  entry.directory = Directory(stage, entry.key);
  entry.lock_file = entry.directory + ".lock";
  entry.work = entry.directory + ".work";
  return entry;
}

bool StageCache::HasStage(const StageId& stage) const {
  return fs::exists(Directory(stage, stage.Hash()) + "/" + kSealName);
}

// Finds a whole artifact. Readers share its lock, which keeps it from being pruned meanwhile.
std::optional<StageCache::Made> StageCache::Find(const StageId& stage, const Entry& entry) const {
  if (!fs::exists(entry.directory + "/" + kSealName)) return {};
  const std::unique_ptr<FileLock> lock = FileLock::Try(entry.lock_file, LockKind::kShared);
  if (lock == nullptr) return {};
  Touch(entry.lock_file);
  const std::optional<std::string> content_hash = VerifySeal(stage, entry.directory);
  if (!content_hash) return {};
  return Made{{entry.directory, *content_hash},
              {.name = stage.name,
               .key = entry.key,
               .content_hash = *content_hash,
               .outcome = StageOutcome::kReused,
               .seconds = 0.0}};
}

// Makes the artifact in the stage's work folder, unless a try that was killed at the very end has
// left it there, and seals it.
StageRecord StageCache::Compute(const StageId& stage, const Entry& entry, const Writer& write) {
  StageRecord record{.name = stage.name,
                     .key = entry.key,
                     .content_hash = "",
                     .outcome = StageOutcome::kComputed,
                     .seconds = 0.0};
  RequireKind(entry.work, fs::file_type::directory);
  RequireKind(entry.work + "/" + kCheckpointFolder, fs::file_type::directory);
  CreateDirectories(entry.work + "/" + kCheckpointFolder);
  std::optional<std::string> content_hash = VerifySeal(stage, entry.work);
  if (!content_hash) {
    if (InterruptRequested()) throw Interrupted();
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t piece = cpu_.Begin();
    try {
      write(entry.work);
    } catch (...) {
      cpu_.End(piece);
      throw;
    }
    record.cpu_seconds = cpu_.End(piece);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    content_hash = Seal(stage, entry.work);
    WriteFileAtomically(CostFileOf(entry.directory), Dump({{"seconds", took.count()},
                                                           {"cpu_seconds", record.cpu_seconds},
                                                           {"host", HostName()}}));
  }
  record.content_hash = *content_hash;
  return record;
}

StageCache::Made StageCache::FindOrMake(const StageId& stage, const Entry& entry,
                                        const Writer& write) {
  const std::string parent = fs::path(entry.directory).parent_path().string();
  RequireKind(parent, fs::file_type::directory);
  CreateDirectories(parent);
  RequireKind(entry.lock_file, fs::file_type::regular);
  if (std::optional<Made> found = Find(stage, entry)) return *std::move(found);

  std::unique_ptr<FileLock> lock;
  if (Attempt::OnThisThread().empty()) {
    lock = std::make_unique<FileLock>(entry.lock_file);
  } else {
    lock = FileLock::Try(entry.lock_file);
    if (lock == nullptr) throw StageHeld({entry.lock_file});
  }
  Touch(entry.lock_file);
  StageOutcome outcome = StageOutcome::kComputed;
  if (IsTaken(entry.directory)) {
    if (const std::optional<std::string> content_hash = VerifySeal(stage, entry.directory)) {
      return {{entry.directory, *content_hash},
              {.name = stage.name,
               .key = entry.key,
               .content_hash = *content_hash,
               .outcome = StageOutcome::kReused,
               .seconds = 0.0}};
    }
    outcome = StageOutcome::kReplaced;
    RemoveAll(entry.directory);
  }
  lock->NameHolder();
  StageRecord record = Compute(stage, entry, write);
  record.outcome = outcome;
  Publish(stage, entry.work, entry.directory);
  return {{entry.directory, record.content_hash}, record};
}

StageCache::Made StageCache::Obtain(const StageId& stage, const Writer& write) {
  const auto start = std::chrono::steady_clock::now();
  const Entry entry = EntryOf(stage);
  Made made = FindOrMake(stage, entry, write);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  made.record.seconds = elapsed.count();
  if (const auto cost = ReadCost(entry.directory)) made.record.computed_seconds = cost->seconds;
  made.record.peak_memory_bytes = PeakMemoryBytes();
  return made;
}

void StageCache::CarryOver(const StageRecord& record) {
  if (record.outcome != StageOutcome::kReused) carried_.insert_or_assign(record.key, record);
}

Artifact StageCache::RunStage(const StageId& stage, const Writer& write) {
  if (only_lists()) return List(stage, EntryOf(stage));
  Made made = Obtain(stage, write);
  const std::lock_guard guard(mutex_);
  const auto carried = carried_.find(made.record.key);
  if (carried != carried_.end()) {
    const double seconds = made.record.seconds + carried->second.seconds;
    if (made.record.outcome == StageOutcome::kReused) made.record = carried->second;
    made.record.seconds = seconds;
    carried_.erase(carried);
  }
  records_.push_back({made.record, Attempt::OnThisThread()});
  return made.artifact;
}

void StageCache::PrepareStage(const StageId& stage, const Writer& write) {
  if (only_lists()) {
    List(stage, EntryOf(stage));
    return;
  }
  if (HasStage(stage)) return;
  const Made made = Obtain(stage, write);
  const std::lock_guard guard(mutex_);
  CarryOver(made.record);
}

void StageCache::GiveUp(const Attempt& attempt) {
  const std::lock_guard guard(mutex_);
  std::erase_if(records_, [&](const Kept& kept) {
    if (std::ranges::find(kept.attempts, attempt.number()) == kept.attempts.end()) return false;
    CarryOver(kept.record);
    return true;
  });
}

Artifact StageCache::List(const StageId& stage, const Entry& entry) {
  StageState state{.name = stage.name, .key = entry.key};
  const std::optional<std::string> content_hash = StatedHash(entry.directory);
  if (content_hash) {
    state.kind = StageState::Kind::kDone;
    state.cost = ReadCost(entry.directory);
  } else if (fs::exists(entry.lock_file) && FileLock::Try(entry.lock_file) == nullptr) {
    const LockHolder holder = HolderOf(entry.lock_file);
    state.kind = StageState::Kind::kRunning;
    state.host = holder.host;
    state.process = holder.process;
  }
  {
    const std::lock_guard guard(mutex_);
    if (std::ranges::find(states_, entry.key, &StageState::key) == states_.end()) {
      states_.push_back(std::move(state));
    }
  }
  if (!content_hash) throw StageHeld({entry.lock_file});
  return {entry.directory, *content_hash};
}

void StageCache::EndOfStages() const {
  if (only_lists()) throw StageHeld({});
  // an item of a loop is not the end of the run
  if (use_ == CacheUse::kWorkOnly && Attempt::OnThisThread().empty()) throw StagesDone();
}

std::vector<StageState> StageCache::states() const {
  const std::lock_guard guard(mutex_);
  return states_;
}

std::vector<StageRecord> StageCache::records() const {
  const std::lock_guard guard(mutex_);
  std::vector<StageRecord> records;
  for (const Kept& kept : records_) records.push_back(kept.record);
  return records;
}

}  // namespace lfiw::core
