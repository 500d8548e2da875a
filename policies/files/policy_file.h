#ifndef LFIW_POLICIES_FILES_POLICY_FILE_H_
#define LFIW_POLICIES_FILES_POLICY_FILE_H_

#include <memory>
#include <string>

#include "core/layers.h"
#include "policies/policy.h"

namespace lfiw::policies {

struct PolicyLoadOptions {
  // YAML of what the file does not say (policy_contract.h). Empty: the policy's path with .yaml in
  // place of its extension, or appended, if there is such a file. A TorchScript module needs one;
  // for other formats it may set stochastic and time_feature_steps, for a program stochastic.
  std::string contract;
};

// Loads a policy of any known format, told by its content:
//   - a checkpoint of this program (gaussian_mlp_policy.h) or a network as arrays
//     (network_policy.h), .npz
//   - DOPE's policies, as .npz or the original pickle, which is read without running anything
//     (dope_policy.h)
//   - the behavior policy inside a D4RL log, .hdf5
//   - an agent of Stable-Baselines3 as it saves itself, .zip with vecnormalize.pkl beside it, read
//     without running anything (sb3_checkpoint.h), or its arrays, .npz (sb3_policy.h); config.yml
//     beside it says whether it was trained with TimeFeatureWrapper
//   - a TorchScript module with a contract (torchscript_network.h). This format runs code: load
//     only files that are trusted.
//   - "exec:COMMAND" in place of a path: a program that answers observations with actions
//     (program_policy.h), which runs as the user who starts this one
// Throws PolicyError, in one line with the cure, for everything else and for broken files,
// ConfigError for a wrong contract.
std::unique_ptr<Policy> LoadPolicy(const std::string& path, const PolicyLoadOptions& options = {});

// What a policy is called in tables: its file's name without folder and ending, or what
// ProgramPolicyLabel says.
std::string PolicyLabel(const std::string& path);

// A SHA-256 that changes with whatever LoadPolicy reads: of the file alone, or of the file, its
// contract and what they say where there are files beside it that count; of a program what
// ProgramPolicyHash sees. Errors as in LoadPolicy.
std::string PolicyHash(const std::string& path, const PolicyLoadOptions& options = {});

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_POLICY_FILE_H_
