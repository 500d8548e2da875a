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
  // The row behind the episode holds its last observation and no step of its own.
  bool last_follows = false;
};

// What flat rows are beside steps, as SurveyFlatRows finds it.
struct FlatRows {
  std::int64_t rows = 0;  // with data; others behind them are padding
  // The row after each end only resets the environment: its action was ignored, its observation is
  // the last one of the episode before.
  bool reset_rows = false;
  // The next observation at an end is the first one of the next episode.
  bool reset_next = false;
  // The only row that does not follow from the next observation of the one before, although no end
  // is marked, or the one that a ring buffer names: its oldest one. Of every environment, where
  // several follow each other. 0: none.
  std::int64_t wrap_row = 0;
};

// Looks for rows of padding and for what environments that reset themselves leave in a log, in one
// pass over `store`, which is read from its beginning.
FlatRows SurveyFlatRows(ArrayStore& store, const LogKeys& keys);

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
// The same of the rows that hold steps.
std::unique_ptr<EpisodeSource> MakeFlagSource(ArrayStore& store, const LogKeys& keys,
                                              std::int64_t max_steps, const FlatRows& rows,
                                              LogCounts& counts);

// Episodes by their first rows (keys.offsets) or, without these, by their numbers of steps
// (keys.lengths). Throws DataError for steps that do not add up to the rows of the file.
std::unique_ptr<EpisodeSource> MakeOffsetSource(ArrayStore& store, const LogKeys& keys,
                                                LogInfo& info);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_EPISODE_SOURCE_H_
