#ifndef LFIW_CORE_RUN_STAGE_CACHE_H_
#define LFIW_CORE_RUN_STAGE_CACHE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/run/attempt.h"
#include "core/run/cpu_shares.h"
#include "core/run/stage.h"

namespace lfiw::core {

struct Artifact {
  std::string directory;
  std::string content_hash;  // of all names and bytes; equal bytes make equal keys downstream

  std::string File(const std::string& name) const { return directory + "/" + name; }
};

enum class StageOutcome {
  kReused,    // was there, every byte as recorded
  kComputed,  // was not there
  kReplaced,  // was there but damaged, and has been computed again
};

// What a call of Run did.
struct StageRecord {
  std::string name;
  std::string key;
  std::string content_hash;
  StageOutcome outcome;
  double seconds;  // waiting for other processes included
  // Of the try that made the artifact, now or in an earlier run; none where nothing recorded it.
  std::optional<double> computed_seconds = {};
  double cpu_seconds = 0.0;            // of this call; shared evenly with stages that ran meanwhile
  std::int64_t peak_memory_bytes = 0;  // of the process so far, at the end of the call
};

// What making an artifact cost, as it stands beside it.
struct StageCost {
  double seconds = 0.0;  // wall time
  std::optional<double> cpu_seconds = {};
  std::string host = {};
};

// What there is of a stage that a run asks for.
struct StageState {
  enum class Kind { kDone, kRunning, kToDo };

  std::string name;
  std::string key;
  Kind kind = Kind::kToDo;
  std::string host = {};               // of a running stage
  std::int64_t process = 0;            // likewise
  std::optional<StageCost> cost = {};  // of a stage that is done
};
constexpr auto EnumNames(StageState::Kind /*kind*/) {
  return std::to_array<std::string_view>({"done", "running", "to do"});
}

// What a cache is asked by a run: to make what is missing for it, to make it and leave all else to
// another process, or only to say what there is.
enum class CacheUse { kMake, kWorkOnly, kList };

// Artifacts on disk under the hash of what they depend on. Safe for several threads and processes
// at once: one computes, the others wait for it or, in a shared loop, do something else first.
class StageCache {
 public:
  // Throws DataError if `root` cannot be created.
  explicit StageCache(std::string root, Toolchain toolchain = {}, CacheUse use = CacheUse::kMake);

  // The artifact of a stage: what is there if it is whole, else what S::Make writes, which appears
  // under its final name only when it is complete and on disk. Files under work.Checkpoints() and
  // hidden files (temporaries of a killed try) are dropped at the end; all others are the artifact.
  // What Make throws passes through. Throws Interrupted if the user interrupts while another
  // process computes the stage, and StageHeld in place of waiting for that process within a shared
  // loop. Make must not run the same stage again. Where stages are only listed, takes an artifact
  // at its word, and throws StageHeld for a stage that is not made.
  template <StageType S>
  Artifact Run(const typename S::Key& key, const typename S::Inputs& inputs, StageWork work = {}) {
    return RunStage(IdOf<S>(key, inputs, toolchain_), WriterOf<S>(key, inputs, std::move(work)));
  }

  // Makes what Run will ask for, in a loop that other processes share, while Run stands in code
  // that must go in order. An artifact that is there is not looked at, which Run does. It leaves no
  // record of its own: that of Run says what this did.
  template <StageType S>
  void Prepare(const typename S::Key& key, const typename S::Inputs& inputs, StageWork work = {}) {
    PrepareStage(IdOf<S>(key, inputs, toolchain_), WriterOf<S>(key, inputs, std::move(work)));
  }

  // True if Run would find the artifact; its bytes are not checked.
  template <StageType S>
  bool Has(const typename S::Key& key, const typename S::Inputs& inputs) const {
    return HasStage(IdOf<S>(key, inputs, toolchain_));
  }

  // One record per call of Run that returned, in order of their ends, without those of tries that
  // were given up.
  std::vector<StageRecord> records() const;

  bool only_lists() const { return use_ == CacheUse::kList; }
  // All that a run, or an item of a shared loop, asks for has been named: ends what only lists
  // stages, by StageHeld, and a run that only works, by StagesDone.
  void EndOfStages() const;
  // The stages that were asked for where they are only listed, each once, in order.
  std::vector<StageState> states() const;

  // For shared loops: a try is given up. What it computed is told by the records of the next one.
  void GiveUp(const Attempt& attempt);

  // The same for a stage without a declared type, for tests of the cache itself.
  using Writer = std::function<void(const std::string& directory)>;
  Artifact RunStage(const StageId& stage, const Writer& write);
  void PrepareStage(const StageId& stage, const Writer& write);
  bool HasStage(const StageId& stage) const;

 private:
  struct Entry;  // the paths of a stage
  struct Made {
    Artifact artifact;
    StageRecord record;
  };
  struct Kept {
    StageRecord record;
    Attempt::Path attempts;  // that it was made in
  };

  template <StageType S>
  static Writer WriterOf(const typename S::Key& key, const typename S::Inputs& inputs,
                         StageWork work) {
    return [&key, &inputs, work = std::move(work)](const std::string& directory) mutable {
      work.directory = directory;
      S::Make(key, inputs, work);
    };
  }

  std::string Directory(const StageId& stage, const std::string& hash) const;
  Entry EntryOf(const StageId& stage) const;
  std::optional<Made> Find(const StageId& stage, const Entry& entry) const;
  Made FindOrMake(const StageId& stage, const Entry& entry, const Writer& write);
  StageRecord Compute(const StageId& stage, const Entry& entry, const Writer& write);
  Made Obtain(const StageId& stage, const Writer& write);
  Artifact List(const StageId& stage, const Entry& entry);
  void CarryOver(const StageRecord& record);

  std::string root_;
  Toolchain toolchain_;
  CacheUse use_;
  CpuShares cpu_;
  mutable std::mutex mutex_;
  std::vector<Kept> records_;
  std::map<std::string, StageRecord> carried_;  // by key: computed, but in no record yet
  std::vector<StageState> states_;
};

// Reads what the seal of the artifact in `directory` says of its stage; nothing if there is none.
std::optional<StageId> ReadSeal(const std::string& directory);

// Returns the content hash of the artifact in `directory`, or nothing unless its files are exactly
// what its seal says and its seal is that of `stage`.
std::optional<std::string> VerifySeal(const StageId& stage, const std::string& directory);

// The file beside an artifact's folder that says what the stage cost.
std::string CostFileOf(const std::string& directory);

// Reads what making the artifact in `directory` cost; nothing where nothing recorded it.
std::optional<StageCost> ReadCost(const std::string& directory);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_STAGE_CACHE_H_
