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
#include "core/run/sha256.h"

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

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Relative names of the files that make up the artifact in `directory`, sorted.
std::vector<std::string> ListFiles(const std::string& directory) {
  std::vector<std::string> names;
  const std::string checkpoints = std::string(StageCache::kCheckpointFolder) + "/";
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

ordered_json Describe(const Stage& stage) {
  return {{"stage", stage.name},
          {"config", stage.config},
          {"inputs", stage.inputs},
          {"seed", stage.seed},
          {"code_version", stage.code_version}};
}

// Makes everything in `directory` durable and seals it. Returns the content hash.
std::string Seal(const Stage& stage, const std::string& directory) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    SyncToDisk(entry.path().string());
  }
  ordered_json seal = Describe(stage);
  seal["files"] = HashFiles(directory);
  WriteFileAtomically(directory + "/" + kSealName, Dump(seal));
  return Sha256Hex(Dump(seal["files"]));
}

// Moves a sealed artifact to its final name without what does not belong to it. Checkpoints go only
// now: a program killed while sealing still finds them.
void Publish(const std::string& work, const std::string& directory) {
  RemoveAll(work + "/" + StageCache::kCheckpointFolder);
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

// The content hash of a sealed artifact, or nothing if it is not exactly what its seal says.
std::optional<std::string> Verify(const Stage& stage, const std::string& directory) {
  try {
    const std::string text = ReadFile(directory + "/" + kSealName);
    ordered_json seal = ordered_json::parse(text);
    const ordered_json files = seal.at("files");
    seal.erase("files");
    if (seal != Describe(stage) || files != HashFiles(directory)) return std::nullopt;
    return Sha256Hex(Dump(files));
  } catch (const DataError&) {
    return std::nullopt;
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  }
}

// How long the stage took lies beside its artifact, which it is no part of.
std::string SecondsFile(const std::string& directory) { return directory + ".seconds"; }

std::optional<double> ReadSeconds(const std::string& directory) {
  try {
    return ordered_json::parse(ReadFile(SecondsFile(directory))).get<double>();
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

std::string Stage::Key() const { return Sha256Hex(Dump(Describe(*this))); }

StageCache::StageCache(std::string root) : root_(std::move(root)) { CreateDirectories(root_); }

std::string StageCache::Directory(const Stage& stage, const std::string& key) const {
  LFIW_ASSERT(IsName(stage.name));
  return fmt::format("{}/{}/{}", root_, stage.name, key.substr(0, kNameDigits));
}

bool StageCache::Has(const Stage& stage) const {
  return fs::exists(Directory(stage, stage.Key()) + "/" + kSealName);
}

Artifact StageCache::Run(const Stage& stage, const Writer& write) {
  const auto start = std::chrono::steady_clock::now();
  const std::string key = stage.Key();
  const std::string directory = Directory(stage, key);
  CreateDirectories(fs::path(directory).parent_path().string());
  const FileLock lock(directory + ".lock");

  StageOutcome outcome = StageOutcome::kReused;
  std::optional<std::string> content_hash;
  if (fs::exists(directory)) {
    content_hash = Verify(stage, directory);
    if (!content_hash) {
      outcome = StageOutcome::kReplaced;
      RemoveAll(directory);
    }
  } else {
    outcome = StageOutcome::kComputed;
  }
  if (!content_hash) {
    const std::string work = directory + ".work";
    CreateDirectories(work + "/" + kCheckpointFolder);
    // a try that was killed at the very end needs only its last step
    content_hash = Verify(stage, work);
    if (!content_hash) {
      const auto begin = std::chrono::steady_clock::now();
      write(work);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      content_hash = Seal(stage, work);
      WriteFileAtomically(SecondsFile(directory), Dump(took.count()));
    }
    Publish(work, directory);
  }

  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const std::optional<double> computed = ReadSeconds(directory);
  const std::lock_guard guard(mutex_);
  records_.push_back({stage.name, key, *content_hash, outcome, elapsed.count(), computed});
  return {directory, *content_hash};
}

std::vector<StageRecord> StageCache::records() const {
  const std::lock_guard guard(mutex_);
  return records_;
}

std::string Summarize(const std::vector<StageRecord>& records) {
  std::size_t reused = 0;
  std::size_t replaced = 0;
  double seconds = 0.0;
  for (const StageRecord& record : records) {
    if (record.outcome == StageOutcome::kReused) {
      ++reused;
    } else {
      seconds += record.seconds;
      if (record.outcome == StageOutcome::kReplaced) ++replaced;
    }
  }
  std::string text = fmt::format("{} stages computed ({:.1f} s), {} reused",
                                 records.size() - reused, seconds, reused);
  if (replaced > 0) text += fmt::format("; {} were damaged and replaced", replaced);
  return text;
}

}  // namespace lfiw::core
