#ifndef LFIW_CORE_LOGS_LOG_KEYS_H_
#define LFIW_CORE_LOGS_LOG_KEYS_H_

#include <string>

#include "core/arrays/array_store.h"

namespace lfiw::core {

// Which array of a file holds what; "" where there is none.
struct LogKeys {
  std::string format = {};
  std::string observation = {}, action = {}, reward = {};
  std::string next_observation = {};
  std::string terminal = {}, timeout = {};  // one flag a step; `terminal` may be one an episode
  std::string offsets = {};  // boundaries: [episodes + 1], or without one or both ends
  std::string lengths = {};  // [episodes] of padded arrays
  std::string density = {};  // log-density of the behavior policy
  std::string aux = {};
  std::string position = {};
  // The format's flags do not tell terminal states from time limits.
  bool ends_unknown = false;
};

// The keys that `map` (LogReadOptions) names. Throws ConfigError for a name that is none.
LogKeys ParseLogMap(const std::string& map);

// The layout of a file by its keys. Throws DataError that lists the keys and points to --map.
LogKeys RecognizeLogKeys(const ArrayStore& store);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LOG_KEYS_H_
