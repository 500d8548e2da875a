#ifndef LFIW_CORE_LOGS_LOG_WRITERS_H_
#define LFIW_CORE_LOGS_LOG_WRITERS_H_

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/logs/log_writer.h"

namespace lfiw::core {

// The writers behind CreateLog, one a format.
std::unique_ptr<LogWriter> CreateNpzLog(const std::string& path, const LogInfo& info);
std::unique_ptr<LogWriter> CreateD4rlLog(const std::string& path, const LogInfo& info);
std::unique_ptr<LogWriter> CreateMinariLog(const std::string& path, const LogInfo& info);
std::unique_ptr<LogWriter> CreateCsvLog(const std::string& path, const LogInfo& info);

// The place of the 1 in each one-hot row. Throws DataError, naming `path`, if a row has none.
std::vector<std::int64_t> ActionIndices(const MatrixF& one_hot, const std::string& path);

// A stream to a file whose every failure throws DataError.
class CheckedStream {
 public:
  explicit CheckedStream(const std::string& path);
  void Write(std::string_view bytes);
  void WriteAt(std::int64_t position, std::string_view bytes);
  void Close();

 private:
  void Check() const;
  std::string path_;
  std::ofstream stream_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LOG_WRITERS_H_
