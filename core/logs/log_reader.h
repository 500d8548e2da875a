#ifndef LFIW_CORE_LOGS_LOG_READER_H_
#define LFIW_CORE_LOGS_LOG_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/logs/episode_batch.h"

namespace lfiw::core {

// What a log says of itself, and what its reader made of it.
struct LogInfo {
  std::string format = {};            // "D4RL HDF5", "Minari", "npz", "CSV", "JSON lines", ...
  std::string environment = {};       // name or id that the file states; empty if none
  std::int64_t obs_dim = 0;           // flattened
  std::int64_t action_dim = 0;        // one-hot width for discrete actions
  std::int64_t discrete_actions = 0;  // number of actions, 0: continuous. Actions are one-hot rows
  std::vector<std::string> notes = {};  // decisions of the reader that its user should know
};

// What became of the rows of the file; complete when the reader has reached the end.
struct LogCounts {
  std::int64_t file_steps = 0;          // steps (actions) in the file
  std::int64_t unrecorded_cuts = 0;     // cut episodes without their last observation
  std::int64_t unrecorded_ends = 0;     // terminated episodes without their last observation
  std::int64_t discarded_episodes = 0;  // those with no step left
  std::int64_t cut_episodes = 0;        // cut at max_episode_steps, for want of a better boundary
  std::int64_t padding_steps = 0;       // rows behind the data that hold nothing, left out
  std::int64_t reset_steps = 0;         // rows that only reset the environment, left out
  std::int64_t duplicate_episodes = 0;  // episodes that repeat another one, counted once
  std::int64_t both_flags = 0;          // steps with terminal and timeout (terminal wins)
  // Steps inside an episode whose next observation in the file could be compared with the
  // observation of the step after, and those that differ.
  std::int64_t continuity_checked = 0;
  std::int64_t continuity_broken = 0;
  std::string first_broken;  // "episode 3, step 17"
  // Ends whose next observation in the file is the first observation of the episode after it, so
  // that it is no outcome.
  std::int64_t reset_ends = 0;
};

struct LogReadOptions {
  // "obs=KEY,action=KEY,reward=KEY,..." for HDF5 and npz files of no known layout; further names:
  // next_obs, terminal, timeout, offsets, lengths, density, aux. Empty: by the file's keys.
  std::string map = {};
  // Episodes of a flat file that does not tell where time limits struck are cut at this length.
  std::int64_t max_episode_steps = 1000;
  // When positive and the file has positions ("infos/qpos"), aux becomes the change of the first
  // position within a step divided by this time: the forward velocity of Swimmer and HalfCheetah.
  double position_step_seconds = 0.0;
};

// Streams the episodes of a log in their order, in bounded memory. Values may be NaN or infinite
// (ValidateLog refuses them); shapes and boundaries are sound. Throws DataError that names file and
// row, line, or episode and step.
class LogReader {
 public:
  virtual ~LogReader() = default;
  // Notes may grow while episodes are read.
  virtual const LogInfo& info() const = 0;
  virtual const LogCounts& counts() const = 0;
  // The next whole episodes, together at most `max_steps` steps but at least one episode; no
  // episodes at the end.
  virtual EpisodeBatch Next(std::int64_t max_steps) = 0;
};

// Throws DataError unless all numbers are finite, flags are 0 or 1, and densities are logarithms of
// what is possible (at most 0 for discrete actions).
void ValidateLog(const EpisodeBatch& log, const LogInfo& info, const std::string& source);

// Throws DataError that names episode, step and column unless all numbers are of a size that fits
// in single precision follow: observations and aux up to 1e15, actions up to 1e8, rewards up to
// 1e30 in absolute value.
void ValidateSizes(const EpisodeBatch& log, const std::string& source);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LOG_READER_H_
