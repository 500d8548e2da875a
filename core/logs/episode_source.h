#ifndef LFIW_CORE_LOGS_EPISODE_SOURCE_H_
#define LFIW_CORE_LOGS_EPISODE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "core/arrays/array_store.h"
#include "core/logs/log_keys.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// Where an episode lies in the flat rows.
struct Span {
  std::int64_t first = 0;
  std::int64_t length = 0;
  bool terminated = false;
};

class EpisodeSource {
 public:
  virtual ~EpisodeSource() = default;
  virtual std::optional<Span> Next() = 0;
  // Their number, if it is known ahead.
  virtual std::optional<std::int64_t> episodes() const { return std::nullopt; }
};

// Episodes by one flag a step. A file without timeouts is cut at `max_steps` and, if it has next
// observations, where these do not continue. `store`, `keys` and `counts` must outlive the source.
std::unique_ptr<EpisodeSource> MakeFlagSource(ArrayStore& store, const LogKeys& keys,
                                              std::int64_t max_steps, LogCounts& counts);

// Episodes by their first rows.
std::unique_ptr<EpisodeSource> MakeOffsetSource(ArrayStore& store, const LogKeys& keys,
                                                LogInfo& info);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_EPISODE_SOURCE_H_
