#ifndef LFIW_ENVS_ENV_REGISTRY_H_
#define LFIW_ENVS_ENV_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/layers.h"
#include "envs/env.h"

namespace lfiw::envs {

// Returns the environment called `name`: "Hopper", "Hopper-v5", or with options behind colons,
// "Hopper-v5:frame_skip=2:healthy_z_range=[0.8,2]". Case and underscores are ignored. Without a
// version, version 4 of Gymnasium is meant; names of D4RL's data sets ("hopper-medium-v2") mean
// what they were collected in. The name in its spec is the canonical one: versions that compute the
// same have the same name, and options at their defaults are left out. Throws ConfigError that
// names the versions and options there are, or suggests the nearest name and lists all.
std::shared_ptr<const EnvFactory> FindEnv(const std::string& name);

// Returns the canonical names of all environments, without options.
std::vector<std::string> EnvNames();

// Names all versions of the environment called `name`, the one that it means itself included, and
// with its options. Only one where all versions compute the same; throws as FindEnv.
std::vector<std::string> VersionsOf(const std::string& name);

// Says how `other` differs from `name`, both of them names that FindEnv knows: "observations have
// 105 numbers instead of 27, contacts cost reward". Empty where they compute the same, or are
// different tasks.
std::string VersionDifference(const std::string& name, const std::string& other);

// Says what is wrong where a log is of `stated`, as it names it, and is evaluated in `used`, or in
// nothing that is known (empty): "it is of Hopper-v5, in which ...". Empty where nothing is, or
// where `stated` is no environment that is known.
std::string VersionConflict(const std::string& used, const std::string& stated);

// Returns another version of `spec`'s environment that has these sizes; empty where none has.
std::string VersionOfSizes(const EnvSpec& spec, std::int64_t obs_dim, std::int64_t action_dim);
// Says which version it is, to be put behind an error about sizes: "; Ant-v5 has these sizes".
std::string SizesHint(const EnvSpec& spec, std::int64_t obs_dim, std::int64_t action_dim);

// Says which version a name without one means, where that matters; empty where not.
std::string VersionNote(const std::string& name);

// What `lfiw list environments` says of one of them.
struct EnvSummary {
  std::string name;
  std::string versions;  // "0-4", "5"; empty where there are none
  std::int64_t obs_dim = 0;
  std::int64_t action_dim = 0;
  std::vector<std::string> options;
};
std::vector<EnvSummary> SummarizeEnvs();

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_ENV_REGISTRY_H_
