#ifndef LFIW_CORE_LOGS_OPEN_LOG_H_
#define LFIW_CORE_LOGS_OPEN_LOG_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "core/logs/episode_batch.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// Opens a log whatever its name: the format is found by content. Formats:
//   HDF5   D4RL's flat layout; Minari (file, directory, or id below $MINARI_DATASETS_PATH);
//          padded arrays [episodes, steps, ...]; anything else by `map`
//   npz    lfiw's own layout (core/logs/log_writer.h), imitation's, D4RL's names; anything by `map`
//   CSV    a header and one step a line: episode, t, obs_0 .., action or action_0 .., reward,
//          terminated, truncated, prob_0 .., behavior_log_density, next_obs_0 .., aux_0 ..; a line
//          without action holds the observation after the last step. Coach's layout as well.
//   JSON   one object a line: episode, t, observation [..], action number or [..], reward,
//          terminated, truncated, next_observation [..], behavior_log_density or
//          behavior_probability
// Throws DataError for what none of them can read, and ConfigError for a wrong `map`.
std::unique_ptr<LogReader> OpenLog(const std::string& path, const LogReadOptions& options = {});

// A log in memory, with what its reader says of it.
struct LoadedLog {
  LogInfo info;
  LogCounts counts;
  EpisodeBatch batch;
};

// No limit to the steps that LoadLog keeps.
inline constexpr std::int64_t kAllTransitions = std::numeric_limits<std::int64_t>::max();

// Reads a whole log. Above `max_transitions` steps, whole episodes in an order drawn by `seed`
// until the next one would exceed it (at least one), which a note says. Throws DataError when a
// value is NaN or infinite, or a behavior probability is impossible, naming episode and step.
LoadedLog LoadLog(const std::string& path, const LogReadOptions& options = {},
                  std::int64_t max_transitions = kAllTransitions, std::uint64_t seed = 0);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_OPEN_LOG_H_
