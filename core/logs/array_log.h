#ifndef LFIW_CORE_LOGS_ARRAY_LOG_H_
#define LFIW_CORE_LOGS_ARRAY_LOG_H_

#include <memory>

#include "core/arrays/array_store.h"
#include "core/logs/log_keys.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// A log in flat arrays [steps, ...] or padded ones [episodes, steps, ...].
std::unique_ptr<LogReader> OpenArrayLog(std::unique_ptr<ArrayStore> store, const LogKeys& keys,
                                        const LogReadOptions& options);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_ARRAY_LOG_H_
