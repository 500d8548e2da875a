#ifndef LFIW_CORE_RUN_STAGE_CACHE_H_
#define LFIW_CORE_RUN_STAGE_CACHE_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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

// Artifacts on disk under the hash of what they depend on. Safe for several threads and processes
// at once: one computes, the others wait for it.
class StageCache {
 public:
  // Throws DataError if `root` cannot be created.
  explicit StageCache(std::string root, Toolchain toolchain = {});

  // The artifact of a stage: what is there if it is whole, else what S::Make writes, which appears
  // under its final name only when it is complete and on disk. Files under work.Checkpoints() and
  // hidden files (temporaries of a killed try) are dropped at the end; all others are the artifact.
  // What Make throws passes through. Throws Interrupted if the user interrupts while another
  // process computes the stage. Make must not run the same stage again.
  template <StageType S>
  Artifact Run(const typename S::Key& key, const typename S::Inputs& inputs, StageWork work = {}) {
    return RunStage(IdOf<S>(key, inputs, toolchain_), [&](const std::string& directory) {
      work.directory = directory;
      S::Make(key, inputs, work);
    });
  }

  // True if Run would find the artifact; its bytes are not checked.
  template <StageType S>
  bool Has(const typename S::Key& key, const typename S::Inputs& inputs) const {
    return HasStage(IdOf<S>(key, inputs, toolchain_));
  }

  // One record per call of Run that returned, in order of their ends.
  std::vector<StageRecord> records() const;

  // The same for a stage without a declared type, for tests of the cache itself.
  using Writer = std::function<void(const std::string& directory)>;
  Artifact RunStage(const StageId& stage, const Writer& write);
  bool HasStage(const StageId& stage) const;

 private:
  std::string Directory(const StageId& stage, const std::string& hash) const;

  std::string root_;
  Toolchain toolchain_;
  CpuShares cpu_;
  mutable std::mutex mutex_;
  std::vector<StageRecord> records_;
};

// Reads what the seal of the artifact in `directory` says of its stage; nothing if there is none.
std::optional<StageId> ReadSeal(const std::string& directory);

// Returns the content hash of the artifact in `directory`, or nothing unless its files are exactly
// what its seal says and its seal is that of `stage`.
std::optional<std::string> VerifySeal(const StageId& stage, const std::string& directory);

// The file beside an artifact's folder that says how long the stage took.
std::string SecondsFileOf(const std::string& directory);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_STAGE_CACHE_H_
