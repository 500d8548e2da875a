#include "core/logs/create_log.h"

#include <filesystem>

#include "core/error.h"
#include "core/logs/log_writers.h"

namespace lfiw::core {

LogFormat ChooseLogFormat(const std::string& name, const std::string& path) {
  for (std::size_t i = 0; i < EnumNames(LogFormat{}).size(); ++i) {
    if (name == EnumNames(LogFormat{})[i]) return static_cast<LogFormat>(i);
  }
  const std::string ending = std::filesystem::path(path).extension().string();
  if (!name.empty()) {
    Throw<ConfigError>("format '{}', expected one of {}", name,
                       fmt::join(EnumNames(LogFormat{}), ", "));
  }
  if (ending == ".npz") return LogFormat::kNpz;
  if (ending == ".csv") return LogFormat::kCsv;
  if (ending == ".hdf5" || ending == ".h5") return LogFormat::kD4rl;
  if (ending.empty()) return LogFormat::kMinari;
  Throw<ConfigError>("{}: the ending '{}' tells no log format; say which: {}", path, ending,
                     fmt::join(EnumNames(LogFormat{}), ", "));
}

std::unique_ptr<LogWriter> CreateLog(const std::string& path, LogFormat format,
                                     const LogInfo& info) {
  switch (format) {
    case LogFormat::kNpz:
      return CreateNpzLog(path, info);
    case LogFormat::kD4rl:
      return CreateD4rlLog(path, info);
    case LogFormat::kMinari:
      return CreateMinariLog(path, info);
    case LogFormat::kCsv:
      break;
  }
  return CreateCsvLog(path, info);
}

}  // namespace lfiw::core
