#include "core/logs/open_log.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "core/arrays/open_array_store.h"
#include "core/error.h"
#include "core/logs/array_log.h"
#include "core/logs/log_builder.h"
#include "core/logs/log_keys.h"
#include "core/logs/minari_log.h"
#include "core/logs/text_log.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kBatchSteps = 20'000;
constexpr std::int64_t kMaxMetadataBytes = 16 << 20;

std::string FirstBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Throw<DataError>("cannot read {}: {}", path, std::strerror(errno));
  std::string start(16, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (start.empty()) Throw<DataError>("{}: the file is empty, expected a log", path);
  return start;
}

// Well-known files that are no log, with what to do instead.
void RejectOtherFormats(const std::string& start, const std::string& path) {
  if (start.starts_with('\x80')) {
    Throw<DataError>(
        "{}: a Python pickle; pickles run code and are never loaded: save the arrays "
        "with numpy.savez",
        path);
  }
  if (start.starts_with("\x1f\x8b")) {
    Throw<DataError>("{}: compressed with gzip; unpack it first (gunzip)", path);
  }
  if (start.starts_with("PAR1") || start.starts_with("ARROW1")) {
    Throw<DataError>(
        "{}: Parquet and Arrow are not supported; save the arrays with numpy.savez or "
        "as HDF5",
        path);
  }
  if (start.starts_with("\x93NUMPY")) {
    Throw<DataError>(
        "{}: a single numpy array; save all arrays of the log in one file with "
        "numpy.savez",
        path);
  }
  if (start.find('\0') != std::string::npos) {
    Throw<DataError>("{}: neither HDF5, npz, CSV nor JSON lines", path);
  }
}

// metadata.json beside a Minari data file, or "".
std::string MinariMetadata(const std::string& data_file) {
  const std::string path =
      (std::filesystem::path(data_file).parent_path() / "metadata.json").string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  return ReadFile(path, kMaxMetadataBytes);
}

// The file that `path` stands for: a directory or an id may name a Minari dataset.
std::string ResolvePath(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error)) {
    return path;
  }
  const std::string data_file = FindMinariData(path);
  if (!data_file.empty()) return data_file;
  if (std::filesystem::is_directory(path, error)) {
    Throw<DataError>(
        "{}: a directory without data/main_data.hdf5, expected a log file or a Minari "
        "dataset",
        path);
  }
  Throw<DataError>("cannot read {}: No such file or directory", path);
}

// Whole episodes whose steps stay below a limit: those that come first in a random order, whatever
// the order in the file. Every episode has a random rank; the highest ranks are given up.
class EpisodeSample {
 public:
  EpisodeSample(std::int64_t max_steps, std::uint64_t seed) : max_steps_(max_steps), seed_(seed) {}

  void Add(EpisodeBatch batch) {
    for (std::int64_t e = 0; e < batch.episodes(); ++e) {
      Stream stream(seed_, "log sample", {static_cast<std::uint64_t>(count_++)});
      Consider(stream.Uniform(), batch, e);
    }
  }

  bool Complete() const { return static_cast<std::int64_t>(kept_.size()) == count_; }
  std::int64_t count() const { return count_; }

  EpisodeBatch Finish() {
    std::vector<std::pair<std::int64_t, EpisodeBatch>> episodes;
    for (auto& [rank, kept] : kept_) episodes.push_back(std::move(kept));
    const auto by_place = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(episodes.begin(), episodes.end(), by_place);
    std::vector<EpisodeBatch> batches;
    for (auto& [place, batch] : episodes) batches.push_back(std::move(batch));
    return ConcatenateEpisodes(batches);
  }

 private:
  void Consider(double rank, const EpisodeBatch& batch, std::int64_t e) {
    if (rank >= threshold_) return;
    const std::int64_t episode[] = {e};
    kept_.emplace(rank, std::pair(count_ - 1, SelectEpisodes(batch, episode)));
    steps_ += batch.Length(e);
    while (steps_ > max_steps_ && kept_.size() > 1) {
      const auto last = std::prev(kept_.end());
      threshold_ = last->first;
      steps_ -= last->second.second.steps();
      kept_.erase(last);
    }
  }

  std::int64_t max_steps_;
  std::uint64_t seed_;
  std::int64_t count_ = 0;
  std::int64_t steps_ = 0;
  double threshold_ = 1.0;
  std::multimap<double, std::pair<std::int64_t, EpisodeBatch>> kept_;
};

}  // namespace

std::unique_ptr<LogReader> OpenLog(const std::string& path, const LogReadOptions& options) {
  const std::string file = ResolvePath(path);
  const std::string start = FirstBytes(file);
  if (LooksLikeHdf5(file) || LooksLikeZip(file)) {
    std::unique_ptr<ArrayStore> store = OpenArrayStore(file);
    if (!options.map.empty())
      return OpenArrayLog(std::move(store), ParseLogMap(options.map), options);
    if (IsMinari(*store)) return OpenMinariLog(std::move(store), MinariMetadata(file), options);
    const LogKeys keys = RecognizeLogKeys(*store);
    return OpenArrayLog(std::move(store), keys, options);
  }
  RejectOtherFormats(start, file);
  if (!options.map.empty()) {
    Throw<ConfigError>("--map names arrays of HDF5 and npz files, {} is a text file", file);
  }
  const std::size_t text = start.find_first_not_of(" \t\r\n");
  const bool is_json = text != std::string::npos && start[text] == '{';
  return OpenTextLog(file, is_json ? OpenJsonLines(file) : OpenCsv(file));
}

LoadedLog LoadLog(const std::string& path, const LogReadOptions& options,
                  std::int64_t max_transitions, std::uint64_t seed) {
  const std::unique_ptr<LogReader> reader = OpenLog(path, options);
  std::vector<EpisodeBatch> batches;
  EpisodeSample sample(max_transitions, seed);
  for (;;) {
    EpisodeBatch batch = reader->Next(kBatchSteps);
    if (batch.episodes() == 0) break;
    if (max_transitions == kAllTransitions) {
      batches.push_back(std::move(batch));
    } else {
      sample.Add(std::move(batch));
    }
  }
  LoadedLog log{reader->info(), reader->counts(), {}};
  const bool whole = max_transitions == kAllTransitions;
  log.batch = whole ? ConcatenateEpisodes(batches) : sample.Finish();
  if (log.batch.episodes() == 0) Throw<DataError>("{}: no episode with a usable step", path);
  if (!whole && !sample.Complete()) {
    AddNote(log.info, fmt::format("{} of {} episodes ({} steps) were drawn at random (seed {}), "
                                  "since the log exceeds {} steps",
                                  log.batch.episodes(), sample.count(), log.batch.steps(), seed,
                                  max_transitions));
  }
  ValidateLog(log.batch, log.info, path);
  return log;
}

}  // namespace lfiw::core
