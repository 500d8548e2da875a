#ifndef LFIW_POLICIES_LOG_FILE_H_
#define LFIW_POLICIES_LOG_FILE_H_

#include <string>

#include "core/episode_batch.h"
#include "envs/env.h"

namespace lfiw {

// Logged episodes as an .npz file whose arrays are the fields of EpisodeBatch under the same names:
//   observations         f4 [steps + episodes, obs_dim]
//   actions              f4 [steps, action_dim]
//   rewards              f8 [steps]
//   offsets              i8 [episodes + 1]
//   terminated           u1 [episodes]
//   aux                  f4 [steps, aux_dim]   optional
//   behavior_log_density f8 [steps]            optional
// numpy.savez writes such files, so logs from elsewhere need no other tool.
void SaveLog(const EpisodeBatch& log, const std::string& path);

// Throws DataError when the file cannot be read, misses an array, or holds shapes that disagree,
// offsets that do not increase from 0, or a number that is not finite (episode and step are named).
EpisodeBatch LoadLog(const std::string& path);

// Throws DataError unless the log's sizes are the environment's. A log without aux fits.
void CheckFits(const EpisodeBatch& log, const EnvSpec& spec, const std::string& source);

}  // namespace lfiw

#endif  // LFIW_POLICIES_LOG_FILE_H_
