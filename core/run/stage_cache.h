#ifndef LFIW_CORE_RUN_STAGE_CACHE_H_
#define LFIW_CORE_RUN_STAGE_CACHE_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace lfiw::core {

// All that the artifact of a stage depends on. Two stages with equal fields give the same bytes.
struct Stage {
  std::string name;                 // "fit_dynamics"; letters, digits and _ only
  std::string config;               // CanonicalText of the part of the configuration it reads
  std::vector<std::string> inputs;  // content hashes of the artifacts and files it reads, in order
  std::uint64_t seed = 0;
  int code_version = 1;  // raised when the code of the stage changes its results

  // SHA-256 of all fields.
  std::string Key() const;
};

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
};

// Artifacts on disk under the hash of what they depend on. Safe for several threads and processes
// at once: one computes, the others wait for it.
class StageCache {
 public:
  // Writes all files of the artifact into an existing directory. The directory is the same whenever
  // this stage is tried again, so what a killed try left there can be resumed from. Files under
  // kCheckpointFolder inside it, which exists, and hidden files (temporaries of a killed try) are
  // dropped at the end; all others are the artifact.
  using Writer = std::function<void(const std::string& directory)>;
  static constexpr const char* kCheckpointFolder = "checkpoint";

  // Throws DataError if `root` cannot be created.
  explicit StageCache(std::string root);

  // The artifact of `stage`: what is there if it is whole, else what `write` makes, which appears
  // under its final name only when it is complete and on disk. What `write` throws passes through.
  // Throws Interrupted if the user interrupts while another process computes the stage. `write`
  // must not Run the same stage again.
  Artifact Run(const Stage& stage, const Writer& write);

  // True if Run would find the artifact; its bytes are not checked.
  bool Has(const Stage& stage) const;

  // One record per call of Run that returned, in order of their ends.
  std::vector<StageRecord> records() const;

 private:
  std::string Directory(const Stage& stage, const std::string& key) const;

  std::string root_;
  mutable std::mutex mutex_;
  std::vector<StageRecord> records_;
};

// "3 stages computed (12.4 s), 2 reused".
std::string Summarize(const std::vector<StageRecord>& records);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_STAGE_CACHE_H_
