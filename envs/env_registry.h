#ifndef LFIW_ENVS_ENV_REGISTRY_H_
#define LFIW_ENVS_ENV_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "core/layers.h"
#include "envs/env.h"

namespace lfiw::envs {

// Returns the environment called `name`; case, underscores and a "-vN" suffix are ignored. Throws
// ConfigError that suggests the nearest name and lists all.
std::shared_ptr<const EnvFactory> FindEnv(const std::string& name);
// Returns the canonical names of all environments.
std::vector<std::string> EnvNames();

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_ENV_REGISTRY_H_
