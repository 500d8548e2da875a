#ifndef LFIW_ENVS_ENV_OPTIONS_H_
#define LFIW_ENVS_ENV_OPTIONS_H_

#include <string>

#include "core/config/config.h"
#include "core/layers.h"

namespace lfiw::envs {

// Options of an environment as a field of a configuration: a map under Gymnasium's names of
// numbers, true or false, and ranges [low, high]. Which there are is known to FindEnv.
class EnvOptions {
 public:
  bool empty() const { return options_.items.empty(); }
  // Returns `name` with the options behind colons, as FindEnv reads it.
  std::string AppendedTo(const std::string& name) const;

  // Reads and writes the field (core/config/config.h).
  void ReadNode(const ConfigNode& node, const std::string& path,
                core::internal::ConfigProblems& problems);
  ConfigNode WriteNode() const { return options_; }

 private:
  ConfigNode options_ = ConfigNode::Map();
};

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_ENV_OPTIONS_H_
