#ifndef LFIW_CORE_LOGS_TEXT_LOG_H_
#define LFIW_CORE_LOGS_TEXT_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/logs/log_reader.h"

namespace lfiw::core {

// One line of a text log.
struct StepRecord {
  std::optional<std::string> episode;
  std::optional<std::int64_t> t;
  std::vector<float> observation;
  // One of the two; neither on a line that holds the observation after the last step.
  std::vector<float> action;
  std::optional<std::int64_t> discrete_action;
  double reward = 0.0;
  bool terminated = false;
  bool truncated = false;
  bool states_end = false;              // it says of either whether it is so
  std::vector<float> next_observation;  // or empty
  std::vector<double> probabilities;    // of every action, or empty
  std::optional<double> probability;    // of the action taken
  std::optional<double> log_density;
  std::vector<float> aux;

  bool has_action() const { return !action.empty() || discrete_action.has_value(); }
};

// The records of a file, in order. Throws DataError that names file and line.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  virtual std::optional<StepRecord> Next() = 0;
  virtual std::int64_t line() const = 0;
};

// What a text format says before its records.
struct TextFormat {
  std::string name = {};
  bool has_ends = true;  // lines tell terminal states from time limits, whatever a record says
  std::vector<std::string> notes = {};
  std::function<std::unique_ptr<RecordSource>()> open = {};  // from the start
};

// CSV with a header (core/logs/open_log.h), or Coach's; and JSON lines. Throw DataError.
TextFormat OpenCsv(const std::string& path);
TextFormat OpenJsonLines(const std::string& path);

// Episodes of records: those of equal `episode`, or, without that field, up to a flag. The file is
// read twice, first for what must be known ahead.
std::unique_ptr<LogReader> OpenTextLog(const std::string& path, const TextFormat& format);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_TEXT_LOG_H_
