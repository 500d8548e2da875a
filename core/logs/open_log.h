#ifndef LFIW_CORE_LOGS_OPEN_LOG_H_
#define LFIW_CORE_LOGS_OPEN_LOG_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/logs/episode_batch.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// Opens a log whatever its name: the format is found by content. Formats:
//   HDF5   D4RL's flat layout; Minari (file, directory, or id below $MINARI_DATASETS_PATH);
//          padded arrays [episodes, steps, ...]; anything else by `map`
//   npz    lfiw's own layout (core/logs/log_writer.h), imitation's, D4RL's names; anything by `map`
//   CSV    a header and one step a line: episode, t, obs_0 .., action or action_0 .., reward,
//          terminated, truncated, prob_0 .. or the probability of the action taken (pscore,
//          propensity, action_prob, ...) or its logarithm (behavior_log_density, logp, ...),
//          next_obs_0 .., aux_0 ..; a line without action holds the observation after the last
//          step. Columns in any order, separated by , ; tab or |. Coach's layout as well.
//   JSON   one object a line: episode, t, observation [..], action number or [..], reward,
//          terminated, truncated, next_observation [..], probabilities under the names of CSV
// Flat arrays have flags under D4RL's names (terminals, timeouts) or Gymnasium's (terminated,
// truncated, terminations, truncations), d3rlpy's episode_terminals, episode_ids, or masks beside
// other flags. Arrays [steps, environments, ...] are read one environment after the other where
// next observations tell that time is the first axis. A terminal step needs no observation after
// it. A pattern with * ? or [ in place of a file name (log_*.npz) stands for all files that it
// matches, which are read as one log in the order of their names. Throws DataError for what none of
// them can read, and ConfigError for a wrong `map`.
std::unique_ptr<LogReader> OpenLog(const std::string& path, const LogReadOptions& options = {});

// The files that OpenLog reads for `path`, the data first: a pattern stands for all that it
// matches, a directory or an id stands for a Minari dataset's data, beside which its metadata may
// lie. Throws DataError where there is none.
std::vector<std::string> LogFiles(const std::string& path);

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
