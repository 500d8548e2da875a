#ifndef LFIW_CORE_RUN_STAGE_H_
#define LFIW_CORE_RUN_STAGE_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/config.h"
#include "core/run/progress.h"

namespace lfiw::core {

// A stage is a step of a run whose artifact the cache keeps: a fitted ensemble, a log, rollouts. It
// is declared once, as a type that a StageCache can run:
//
//   struct CloneStage {
//     static constexpr StageInfo kInfo{.name = "behavior_clone", .version = 1,
//                                      .layer = Layer::kPolicies};
//     struct Key {                    // all of the configuration that Make may read
//       CloneOptions options;
//       std::uint64_t seed = 0;
//       template <class Visitor>
//       void Visit(Visitor& v) {
//         v.Field("options", options, "fit of the clone");
//         v.Field("seed", seed, "root of the random streams");
//       }
//     };
//     struct Inputs {                 // what earlier stages and files have made
//       const LogSource& log;
//       std::vector<std::string> Hashes() const { return {log.hash}; }
//     };
//     static void Make(const Key& key, const Inputs& inputs, const StageWork& work);
//   };
//
// Make is a function without a state of its own, so it can read nothing of the configuration that
// the key does not hold.

// The folders whose code a stage runs: the named one and all below it. Any change of a source there
// makes a stage's artifacts anew. A stage of kOpe or lower runs nothing of the experiments but its
// own Make; what changes there is told by raising StageInfo::version. kExperiments is for stages
// that run more of the experiments' code, and holds the sources of all experiments whose stages do.
enum class Layer { kCore, kEnvs, kModels, kPolicies, kOpe, kExperiments };
constexpr auto EnumNames(Layer /*kind*/) {
  return std::to_array<std::string_view>(
      {"core", "envs", "models", "policies", "ope", "experiments"});
}

struct StageInfo {
  std::string_view name;  // "dynamics"; letters, digits and _ only
  int version = 1;        // raised when Make itself changes what it writes
  Layer layer = Layer::kExperiments;
};

// All that decides an artifact's bytes beside its key and inputs.
struct Toolchain {
  // SHA-256 of the sources of each layer, in the order of Layer.
  std::vector<std::string> sources;
  // What computes and in which version: {"BLAS", "OpenBLAS 0.3.21 SkylakeX"}, {"CPU", ...}.
  std::map<std::string, std::string> computed_with;

  // SHA-256 of the sources of `layer` and of those below it.
  std::string SourceHash(Layer layer) const;
};

// The folder inside a stage's own that is dropped when the stage ends.
inline constexpr const char* kCheckpointFolder = "checkpoint";

// What a stage is given to work with; none of it changes a byte of the artifact.
struct StageWork {
  // An existing folder that receives the artifact's files. It is the same whenever the stage is
  // tried again, so what a killed try left under Checkpoints() can be resumed from.
  std::string directory;
  double checkpoint_seconds = 60.0;
  // Shows the work of a stage: a title, the units of work in all, their name. May be null.
  std::function<std::unique_ptr<Progress>(const std::string& title, std::int64_t total,
                                          const std::string& unit)>
      start_progress = nullptr;

  std::string File(const std::string& name) const { return directory + "/" + name; }
  // A folder, which exists, whose files are dropped when the stage ends.
  std::string Checkpoints() const;
  // Never null.
  std::unique_ptr<Progress> StartProgress(const std::string& title, std::int64_t total,
                                          const std::string& unit) const;
};

template <class S>
concept StageType = requires(const typename S::Key& key, const typename S::Inputs& inputs,
                             const StageWork& work) {
  { S::kInfo } -> std::convertible_to<const StageInfo&>;
  { inputs.Hashes() } -> std::same_as<std::vector<std::string>>;
  S::Make(key, inputs, work);
};

// What a call of a stage is identified by; equal fields mean equal bytes.
struct StageId {
  std::string name;
  std::string key;                  // CanonicalText of the key struct
  std::vector<std::string> inputs;  // content hashes, in order
  int version = 1;
  std::string sources;  // Toolchain::SourceHash of the stage's layer
  std::map<std::string, std::string> computed_with;

  // SHA-256 of all fields.
  std::string Hash() const;
};

// Writes all fields, as they stand in the seal of an artifact (JSON).
std::string DescribeStage(const StageId& stage);

// Returns the info of a stage: its kInfo, or where one type stands for several stages what its
// function Info says of the inputs.
template <StageType S>
StageInfo InfoOf(const typename S::Inputs& inputs) {
  if constexpr (requires { S::Info(inputs); }) {
    return S::Info(inputs);
  } else {
    return S::kInfo;
  }
}

// Identifies a stage by its key and the content hashes of its inputs.
template <StageType S>
StageId IdFromHashes(const typename S::Key& key, std::vector<std::string> input_hashes,
                     const Toolchain& toolchain, const StageInfo& info = S::kInfo) {
  return {.name = std::string(info.name),
          .key = CanonicalText(key),
          .inputs = std::move(input_hashes),
          .version = info.version,
          .sources = toolchain.SourceHash(info.layer),
          .computed_with = toolchain.computed_with};
}

template <StageType S>
StageId IdOf(const typename S::Key& key, const typename S::Inputs& inputs,
             const Toolchain& toolchain) {
  return IdFromHashes<S>(key, inputs.Hashes(), toolchain, InfoOf<S>(inputs));
}

// Writes what a checkpoint of a stage must agree on to be resumed: its key and its inputs.
template <StageType S>
std::string CheckpointIdentity(const typename S::Key& key, const typename S::Inputs& inputs) {
  std::string identity = CanonicalText(key);
  for (const std::string& hash : inputs.Hashes()) identity += " " + hash;
  return identity;
}

// For stages whose inputs are all in their key.
struct NoInputs {
  std::vector<std::string> Hashes() const { return {}; }
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_STAGE_H_
