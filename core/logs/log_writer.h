#ifndef LFIW_CORE_LOGS_LOG_WRITER_H_
#define LFIW_CORE_LOGS_LOG_WRITER_H_

#include <limits>
#include <string>

#include "core/logs/episode_batch.h"
#include "core/logs/log_reader.h"
#include "core/matrix.h"

namespace lfiw::core {

// Stands in files for an observation after the end of an episode that is not recorded.
inline constexpr float kUnrecorded = std::numeric_limits<float>::quiet_NaN();

// The observations of a batch, kUnrecorded after ends that are not recorded.
MatrixF ObservationsToWrite(const EpisodeBatch& batch);

// lfiw's own log: an .npz file whose arrays are the fields of EpisodeBatch under the same names,
//   observations         f4 [steps + episodes, obs_dim]; NaN after an end that is not recorded
//   actions              f4 [steps, action_dim]
//   rewards              f8 [steps]
//   offsets              i8 [episodes + 1]
//   terminated           u1 [episodes]
//   aux                  f4 [steps, aux_dim]   optional
//   behavior_log_density f8 [steps]            optional
//   discrete_actions     i8 [1]                optional: the one-hot width of actions
//   environment          text                  optional
// numpy.savez writes such files, so logs from elsewhere need no other tool. Throws DataError when
// the file cannot be written.
void SaveLog(const EpisodeBatch& log, const std::string& path, const LogInfo& info = {});

// Writes episodes as they come, in bounded memory. The log appears under its name when Finish has
// returned; without it nothing is left. All throw DataError that names the path.
class LogWriter {
 public:
  virtual ~LogWriter() = default;
  // Sizes must be those of the first batch.
  virtual void Append(const EpisodeBatch& batch) = 0;
  // At least one episode was appended.
  virtual void Finish() = 0;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LOG_WRITER_H_
