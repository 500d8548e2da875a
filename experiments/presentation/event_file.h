#ifndef LFIW_EXPERIMENTS_PRESENTATION_EVENT_FILE_H_
#define LFIW_EXPERIMENTS_PRESENTATION_EVENT_FILE_H_

#include <cstdint>
#include <string>

#include "core/layers.h"
#include "core/run/run_directory.h"

namespace lfiw::experiments {

// Curves as TensorBoard reads them: records as in TensorFlow's record_writer.h, each an Event of
// TensorFlow's event.proto with one scalar. Times are left at 0, so that the same curves have the
// same bytes.
class EventFile {
 public:
  EventFile();

  // Adds a point of the curve `tag`; TensorBoard groups curves by what stands before the first
  // slash.
  void Add(const std::string& tag, std::int64_t step, double value);

  const std::string& bytes() const { return bytes_; }

 private:
  void Append(const std::string& event);

  std::string bytes_;
};

// Makes curves of lines of metrics.jsonl: every member of a line that is a number is a point of
// SERIES/MEMBER at its step. Throws DataError for a line without series or step.
std::string EventsOfMetrics(const std::string& lines);

// Writes the learning curves of a run as metrics.jsonl, and the same for TensorBoard together with
// `estimates`, which are lines of the same form.
void WriteMetrics(const RunDirectory& directory, const std::string& lines,
                  const std::string& estimates = "");

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_EVENT_FILE_H_
