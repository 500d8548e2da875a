#ifndef LFIW_CORE_LOGS_MINARI_LOG_H_
#define LFIW_CORE_LOGS_MINARI_LOG_H_

#include <memory>
#include <string>

#include "core/arrays/array_store.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// The data file of a Minari dataset: `path` itself if it is a file, path/data/main_data.hdf5 or
// path/main_data.hdf5 if it is a directory, the same below $MINARI_DATASETS_PATH (default
// ~/.minari/datasets) if it is neither. "" if there is none.
std::string FindMinariData(const std::string& path);

// True if a store's arrays lie in groups episode_0, episode_1, ...
bool IsMinari(const ArrayStore& store);

// Spaces and environment come from `metadata`, the text of metadata.json ("" if there is none), or
// from the file's attributes. Dict observations are flattened by sorted keys, tuples by index.
std::unique_ptr<LogReader> OpenMinariLog(std::unique_ptr<ArrayStore> store,
                                         const std::string& metadata,
                                         const LogReadOptions& options);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_MINARI_LOG_H_
