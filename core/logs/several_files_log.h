#ifndef LFIW_CORE_LOGS_SEVERAL_FILES_LOG_H_
#define LFIW_CORE_LOGS_SEVERAL_FILES_LOG_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/logs/log_reader.h"

namespace lfiw::core {

// The files that a pattern with * ? [ matches, in order of their names; the path itself where a
// file of that name exists or it holds none of these. Throws DataError where nothing matches.
std::vector<std::string> ExpandLogPath(const std::string& path);

// Reads files one after the other as one log, each opened by `open` when its turn comes. Throws
// DataError when a file's sizes or the environment that it names differ from the first one's.
std::unique_ptr<LogReader> OpenSeveralFiles(
    std::vector<std::string> files,
    std::function<std::unique_ptr<LogReader>(const std::string&)> open);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_SEVERAL_FILES_LOG_H_
