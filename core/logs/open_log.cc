#include "core/logs/open_log.h"

#include <algorithm>
#include <filesystem>
#include <istream>
#include <map>
#include <memory>
#include <utility>

#include "core/arrays/open_array_store.h"
#include "core/error.h"
#include "core/logs/array_log.h"
#include "core/logs/log_builder.h"
#include "core/logs/log_keys.h"
#include "core/logs/minari_log.h"
#include "core/logs/repeated_episodes.h"
#include "core/logs/several_files_log.h"
#include "core/logs/text_log.h"
#include "core/logs/text_stream.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kBatchSteps = 20'000;
constexpr std::int64_t kMaxMetadataBytes = 16 << 20;

// The first bytes of what is read as text, unpacked where the file is compressed.
std::string FirstBytesOf(const std::string& path) {
  const std::unique_ptr<std::istream> file = OpenTextStream(path);
  const std::string start = FirstBytes(*file, 16);
  if (file->bad()) {
    Throw<DataError>("{}: cannot be unpacked; the file is damaged or cut short", path);
  }
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
  if (start.starts_with("\x89HDF") || start.starts_with("PK")) {
    Throw<DataError>("{}: a compressed HDF5 or npz file; unpack it first, only text is read packed",
                     path);
  }
  if (start.starts_with("PAR1") || start.starts_with("ARROW1")) {
    Throw<DataError>(
        "{}: Parquet and Arrow are not read; policies/export/convert_log.py makes an npz file of "
        "it",
        path);
  }
  if (start.starts_with("\x93NUMPY")) {
    Throw<DataError>(
        "{}: a single numpy array; save all arrays of the log in one file with "
        "numpy.savez",
        path);
  }
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    Throw<DataError>("{}: text in UTF-16; save it as CSV in UTF-8 (iconv -f UTF-16 -t UTF-8)",
                     path);
  }
  if (!CompressionOf(start).empty() || start.starts_with("\x1f\x9d")) {
    Throw<DataError>("{}: a compressed file; unpack it first", path);
  }
  if (start.find('\0') != std::string::npos) {
    Throw<DataError>("{}: neither HDF5, npz, CSV nor JSON lines", path);
  }
}

// metadata.json beside a data file, or "".
std::string MetadataFile(const std::string& data_file) {
  const std::string path =
      (std::filesystem::path(data_file).parent_path() / "metadata.json").string();
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? path : "";
}

// What it holds.
std::string MinariMetadata(const std::string& data_file) {
  const std::string path = MetadataFile(data_file);
  return path.empty() ? "" : ReadFile(path, kMaxMetadataBytes);
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
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
      if (entry.path().extension() != ".arrow") continue;
      Throw<DataError>(
          "{}: a Minari dataset in Arrow's format, which is not read; "
          "policies/export/convert_log.py makes an npz file of it",
          path);
    }
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

// A contextual bandit: episodes of one step without an observation after any. What follows a
// context there is the next one, whatever the action was, and no value depends on it.
void LinkContexts(LoadedLog& log) {
  EpisodeBatch& batch = log.batch;
  const std::int64_t episodes = batch.episodes();
  if (episodes < 2 || batch.end_unrecorded.empty() || batch.aux_dim() > 0) return;
  for (std::int64_t e = 0; e < episodes; ++e) {
    const bool ended = batch.terminated[static_cast<std::size_t>(e)] != 0;
    if (batch.Length(e) != 1 || batch.EndRecorded(e) || !ended) return;
  }
  for (std::int64_t e = 0; e < episodes; ++e) {
    batch.observations.row(batch.ObservationRow(e, 1)) =
        batch.observations.row(batch.ObservationRow((e + 1) % episodes, 0));
  }
  batch.end_unrecorded.clear();
  AddNote(log.info,
          "every episode is one step without an observation after it, as of a contextual bandit: "
          "the context of the next episode is taken for what follows, which changes no value");
}

// Refuses a log of which no step has an outcome, neither a next observation nor an end.
void RequireOutcomes(const LoadedLog& log, const std::string& path) {
  for (std::int64_t e = 0; e < log.batch.episodes(); ++e) {
    const bool ended = log.batch.terminated[static_cast<std::size_t>(e)] != 0;
    if (ended || log.batch.Outcomes(e) > 0) return;
  }
  Throw<DataError>(
      "{}: no step has an observation after it ({} episodes, {} steps); save next observations, or "
      "mark the last steps as terminal if nothing follows them",
      path, log.batch.episodes(), log.batch.steps());
}

// Says what was left out; `inspect` has findings for it.
void NoteRepairs(LoadedLog& log) {
  const LogCounts& counts = log.counts;
  const auto note = [&](std::int64_t count, const char* text) {
    if (count > 0) AddNote(log.info, fmt::format(fmt::runtime(text), count));
  };
  note(counts.duplicate_episodes,
       "{} episodes repeat an earlier one to the last bit and count once");
  note(counts.reset_ends,
       "at {} ends the next observation is the first one of the next episode; it is not used");
  note(counts.reset_steps,
       "{} rows after ends of episodes only reset the environment and count as no steps");
  note(counts.padding_steps, "the last {} rows hold no data and were left out");
}

std::unique_ptr<LogReader> OpenFile(const std::string& path, const LogReadOptions& options) {
  const std::string file = ResolvePath(path);
  const std::string start = FirstBytesOf(file);
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
  if (text != std::string::npos && start[text] == '[') {
    Throw<DataError>(
        "{}: starts with '[', which is no table; of JSON only lines are read, one object a step "
        "(jq -c '.[]' makes them from an array of objects)",
        file);
  }
  const bool is_json = text != std::string::npos && start[text] == '{';
  return OpenTextLog(file, is_json ? OpenJsonLines(file) : OpenCsv(file));
}

}  // namespace

std::unique_ptr<LogReader> OpenLog(const std::string& path, const LogReadOptions& options) {
  std::vector<std::string> files = ExpandLogPath(path);
  if (files.size() == 1) return OpenFile(files.front(), options);
  return OpenSeveralFiles(std::move(files),
                          [options](const std::string& file) { return OpenFile(file, options); });
}

std::vector<std::string> LogFiles(const std::string& path) {
  std::vector<std::string> files = ExpandLogPath(path);
  if (files.size() > 1) return files;
  files.front() = ResolvePath(files.front());
  const std::string metadata = MetadataFile(files.front());
  if (!metadata.empty()) files.push_back(metadata);
  return files;
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
  if (log.batch.episodes() == 0) {
    Throw<DataError>("{}: no episode with a usable step{}", path,
                     log.info.notes.empty() ? "" : ": " + log.info.notes.back());
  }
  log.counts.duplicate_episodes = DropRepeats(log.batch);
  NoteRepairs(log);
  LinkContexts(log);
  RequireOutcomes(log, path);
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
