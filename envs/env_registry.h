#ifndef LFIW_ENVS_ENV_REGISTRY_H_
#define LFIW_ENVS_ENV_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "core/layers.h"
#include "envs/env.h"

namespace lfiw::envs {

// Returns the environment called `name`; case and underscores are ignored, and so is a suffix "-vN"
// of a version that computes the same. Throws ConfigError that says what differs, or suggests the
// nearest name and lists all.
std::shared_ptr<const EnvFactory> FindEnv(const std::string& name);
// Says how the version that a name states differs from the environment here; empty where it does
// not, or where the name has no version or is not known.
std::string VersionDifference(const std::string& name);
// Returns the canonical names of all environments.
std::vector<std::string> EnvNames();

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_ENV_REGISTRY_H_
