#include "core/run/stage_cache.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/file_lock.h"
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
void Publish(const std::string& work, const std::string& directory) {
  RemoveAll(work + "/" + kCheckpointFolder);
  std::vector<fs::path> hidden;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(work)) {
    if (IsHidden(entry.path())) hidden.push_back(entry.path());
  }
  for (const fs::path& path : hidden) RemoveAll(path.string());
  std::error_code error;
  fs::rename(work, directory, error);
  if (error) Throw<DataError>("cannot rename {} to {}: {}", work, directory, error.message());
  SyncToDisk(fs::path(directory).parent_path().string());
}

std::optional<double> ReadSeconds(const std::string& directory) {
  try {
    return ordered_json::parse(ReadFile(SecondsFileOf(directory))).get<double>();
  } catch (const DataError&) {
    return std::nullopt;
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  }
}

bool IsName(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

}  // namespace

std::string SecondsFileOf(const std::string& directory) { return directory + ".seconds"; }

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

StageCache::StageCache(std::string root, Toolchain toolchain)
    : root_(std::move(root)), toolchain_(std::move(toolchain)) {
  CreateDirectories(root_);
}

std::string StageCache::Directory(const StageId& stage, const std::string& hash) const {
  LFIW_ASSERT(IsName(stage.name));
  return fmt::format("{}/{}/{}", root_, stage.name, hash.substr(0, kNameDigits));
}

bool StageCache::HasStage(const StageId& stage) const {
  return fs::exists(Directory(stage, stage.Hash()) + "/" + kSealName);
}

Artifact StageCache::RunStage(const StageId& stage, const Writer& write) {
  const auto start = std::chrono::steady_clock::now();
  const std::string key = stage.Hash();
  const std::string directory = Directory(stage, key);
  const std::string parent = fs::path(directory).parent_path().string();
  RequireKind(parent, fs::file_type::directory);
  CreateDirectories(parent);
  const std::string lock_file = directory + ".lock";
  RequireKind(lock_file, fs::file_type::regular);
  const FileLock lock(lock_file);
  // its time is when the stage was last asked for, which `lfiw cache prune` goes by
  fs::last_write_time(lock_file, fs::file_time_type::clock::now());

  StageOutcome outcome = StageOutcome::kReused;
  std::optional<std::string> content_hash;
  if (IsTaken(directory)) {
    content_hash = VerifySeal(stage, directory);
    if (!content_hash) {
      outcome = StageOutcome::kReplaced;
      RemoveAll(directory);
    }
  } else {
    outcome = StageOutcome::kComputed;
  }
  double cpu_seconds = 0.0;
  if (!content_hash) {
    const std::string work = directory + ".work";
    RequireKind(work, fs::file_type::directory);
    RequireKind(work + "/" + kCheckpointFolder, fs::file_type::directory);
    CreateDirectories(work + "/" + kCheckpointFolder);
    // a try that was killed at the very end needs only its last step
    content_hash = VerifySeal(stage, work);
    if (!content_hash) {
      if (InterruptRequested()) throw Interrupted();
      const auto begin = std::chrono::steady_clock::now();
      const std::int64_t piece = cpu_.Begin();
      try {
        write(work);
      } catch (...) {
        cpu_.End(piece);
        throw;
      }
      cpu_seconds = cpu_.End(piece);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      content_hash = Seal(stage, work);
      WriteFileAtomically(SecondsFileOf(directory), Dump(took.count()));
    }
    Publish(work, directory);
  }

  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const std::optional<double> computed = ReadSeconds(directory);
  const std::lock_guard guard(mutex_);
  records_.push_back({stage.name, key, *content_hash, outcome, elapsed.count(), computed,
                      cpu_seconds, PeakMemoryBytes()});
  return {directory, *content_hash};
}

std::vector<StageRecord> StageCache::records() const {
  const std::lock_guard guard(mutex_);
  return records_;
}

}  // namespace lfiw::core
