#ifndef LFIW_CORE_LOGS_CREATE_LOG_H_
#define LFIW_CORE_LOGS_CREATE_LOG_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "core/logs/log_reader.h"
#include "core/logs/log_writer.h"

namespace lfiw::core {

// How a log is written.
enum class LogFormat {
  kNpz,     // as SaveLog writes it
  kD4rl,    // flat HDF5 with next_observations; discrete actions as whole numbers
  kMinari,  // a directory with data/main_data.hdf5 and data/metadata.json
  kCsv,     // one step a line, and one for the observation after the last (core/logs/open_log.h)
};
constexpr auto EnumNames(LogFormat /*kind*/) {
  return std::to_array<std::string_view>({"npz", "d4rl", "minari", "csv"});
}

// Returns the format called `name`, or, if that is empty, the one that the ending of `path` tells
// (.npz, .csv, .hdf5, .h5; no ending: minari). Throws ConfigError.
LogFormat ChooseLogFormat(const std::string& name, const std::string& path);

// Starts a log in a format. Throws DataError that names the path when it cannot be written.
std::unique_ptr<LogWriter> CreateLog(const std::string& path, LogFormat format,
                                     const LogInfo& info);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_CREATE_LOG_H_
