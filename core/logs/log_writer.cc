#include "core/logs/log_writer.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/logs/log_writers.h"

namespace lfiw::core {

void SaveLog(const EpisodeBatch& log, const std::string& path, const LogInfo& info) {
  NpzFile file;
  file.Put("observations", log.observations);
  file.Put("actions", log.actions);
  file.Put("rewards", log.rewards);
  file.Put("offsets", log.offsets);
  file.Put("terminated", log.terminated);
  if (log.aux_dim() > 0) file.Put("aux", log.aux);
  if (!log.behavior_log_density.empty()) {
    file.Put("behavior_log_density", log.behavior_log_density);
  }
  if (info.discrete_actions > 0) {
    file.Put("discrete_actions", std::vector<std::int64_t>{info.discrete_actions});
  }
  if (!info.environment.empty()) file.Put("environment", info.environment);
  file.Write(path);
}

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

std::vector<std::int64_t> ActionIndices(const MatrixF& one_hot, const std::string& path) {
  std::vector<std::int64_t> indices;
  for (Eigen::Index i = 0; i < one_hot.rows(); ++i) {
    Eigen::Index index = 0;
    if (one_hot.cols() == 0 || one_hot.row(i).maxCoeff(&index) != 1.0f) {
      Throw<DataError>("cannot write {}: an action that is no one-hot row", path);
    }
    indices.push_back(index);
  }
  return indices;
}

CheckedStream::CheckedStream(const std::string& path)
    : path_(path), stream_(path, std::ios::binary | std::ios::trunc) {
  Check();
}

void CheckedStream::Write(std::string_view bytes) {
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  Check();
}

void CheckedStream::WriteAt(std::int64_t position, std::string_view bytes) {
  stream_.seekp(position);
  Write(bytes);
}

void CheckedStream::Close() {
  stream_.close();
  Check();
}

void CheckedStream::Check() const {
  if (!stream_) Throw<DataError>("cannot write {}: {}", path_, std::strerror(errno));
}

}  // namespace lfiw::core
