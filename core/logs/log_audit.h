#ifndef LFIW_CORE_LOGS_LOG_AUDIT_H_
#define LFIW_CORE_LOGS_LOG_AUDIT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/logs/alignment_audit.h"
#include "core/logs/cut_audit.h"
#include "core/logs/drift_audit.h"
#include "core/logs/episode_batch.h"
#include "core/logs/finding.h"
#include "core/logs/log_reader.h"
#include "core/logs/outlier_audit.h"
#include "core/logs/repeated_episodes.h"
#include "core/logs/reset_audit.h"

namespace lfiw::core {

// Of finite values; without any, `count` is 0 and the rest means nothing.
struct Distribution {
  std::int64_t count = 0;
  double mean = 0.0, deviation = 0.0;  // standard deviation, n - 1
  double min = 0.0, quartile1 = 0.0, median = 0.0, quartile3 = 0.0, max = 0.0;
};

// One column over all rows, in one pass.
struct ColumnSummary {
  std::int64_t finite = 0;
  std::int64_t not_finite = 0;
  double min = 0.0, max = 0.0, mean = 0.0, deviation = 0.0;  // of the finite ones
};

struct AuditReport {
  LogInfo info;
  LogCounts counts;
  std::int64_t episodes = 0;
  std::int64_t steps = 0;
  std::int64_t terminated = 0;  // episodes
  std::vector<double> lengths;  // [episodes]
  std::vector<double> returns;  // [episodes], undiscounted
  Distribution length_distribution;
  Distribution return_distribution;
  std::vector<ColumnSummary> observations;  // [obs_dim]
  std::vector<ColumnSummary> actions;       // [action_dim]
  ColumnSummary reward;
  ColumnSummary behavior_log_density;       // of no values if the log has none
  std::vector<std::int64_t> constant_dims;  // of observations
  std::vector<std::pair<std::int64_t, std::int64_t>>
      duplicate_dims;             // the second repeats the first
  std::vector<Finding> findings;  // worst first

  void AddFinding(Severity severity, std::string code, std::string text, std::string cure = "");
};

// Looks at a log batch by batch, in one pass and memory that grows with the episodes only.
class LogAuditor {
 public:
  void Add(const EpisodeBatch& batch);
  // `info` and `counts` as the reader has them at the end.
  AuditReport Finish(const LogInfo& info, const LogCounts& counts) const;

 private:
  // Running sums of a column, around its first value.
  struct Column {
    std::int64_t finite = 0, not_finite = 0;
    double shift = 0.0, sum = 0.0, squares = 0.0;
    double min = 0.0, max = 0.0;
    std::uint64_t hash = 0;

    void Add(float value);
    void Add(double value);
    ColumnSummary Summary() const;
  };
  void AddRows(const MatrixF& rows, std::vector<Column>& columns) const;
  void NoteFirst(const EpisodeBatch& batch);

  std::int64_t steps_ = 0;
  std::vector<double> lengths_, returns_;
  std::vector<std::uint8_t> terminated_;
  std::vector<Column> observations_, actions_;
  Column reward_, density_;
  RepeatedEpisodes repeated_;
  AlignmentAuditor alignment_;
  CutAuditor cuts_;
  DriftAuditor drift_;
  OutlierAuditor outliers_;
  ResetAuditor resets_;
  std::string first_not_finite_;  // "observation of episode 3, step 17"
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LOG_AUDIT_H_
