#ifndef LFIW_CORE_LOGS_LOG_WRITER_H_
#define LFIW_CORE_LOGS_LOG_WRITER_H_

#include <array>
#include <memory>
#include <string>

#include "core/config/visitor.h"
#include "core/logs/episode_batch.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// lfiw's own log: an .npz file whose arrays are the fields of EpisodeBatch under the same names,
//   observations         f4 [steps + episodes, obs_dim]
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

enum class LogFormat {
  kNpz,     // as above
  kD4rl,    // flat HDF5 with next_observations; discrete actions as whole numbers
  kMinari,  // a directory with data/main_data.hdf5 and data/metadata.json
  kCsv,     // one step a line, and one for the observation after the last (core/logs/log_reader.h)
};
constexpr auto EnumNames(LogFormat /*kind*/) {
  return std::to_array<std::string_view>({"npz", "d4rl", "minari", "csv"});
}

// The format called `name`, or, if that is empty, the one that the ending of `path` tells (.npz,
// .csv, .hdf5, .h5; no ending: minari). Throws ConfigError.
LogFormat ChooseLogFormat(const std::string& name, const std::string& path);

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
std::unique_ptr<LogWriter> CreateLog(const std::string& path, LogFormat format,
                                     const LogInfo& info);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LOG_WRITER_H_
