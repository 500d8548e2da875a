#ifndef LFIW_CORE_LOGS_LOG_KEYS_H_
#define LFIW_CORE_LOGS_LOG_KEYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays/array_store.h"

namespace lfiw::core {

// Which array of a file holds what; "" where there is none.
struct LogKeys {
  std::string format = {};
  std::string observation = {}, action = {}, reward = {};
  std::string next_observation = {};
  std::string terminal = {}, timeout = {};  // one flag a step; `terminal` may be one an episode
  std::string end = {};         // one flag a step: the episode ends here, for whatever reason
  std::string mask = {};        // one a step: 0 where the environment ended the episode, else 1
  std::string episode_id = {};  // one a step
  std::string offsets = {};     // boundaries: [episodes + 1], or without one or both ends
  std::string lengths = {};     // steps of each episode, [episodes]
  std::string density = {};     // log-density of the behavior policy
  std::string aux = {};
  std::string position = {};
  // The format's flags do not tell terminal states from time limits.
  bool ends_unknown = false;
  // Rows of one environment where several follow each other; 0: all are of one.
  std::int64_t segment = 0;
};

// The keys that `map` (LogReadOptions) names. Throws ConfigError for a name that is none.
LogKeys ParseLogMap(const std::string& map);

// The layout of a file by its keys. Throws DataError that lists the keys and points to --map, and
// for flags such as `dones` that do not tell an end of the environment from a time limit.
LogKeys RecognizeLogKeys(const ArrayStore& store);

// Arrays of one value a step that `keys` does not name, by name.
std::vector<std::string> UnusedStepArrays(const ArrayStore& store, const LogKeys& keys);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LOG_KEYS_H_
