#ifndef LFIW_EXPERIMENTS_CALIBRATION_VERDICT_TABLE_H_
#define LFIW_EXPERIMENTS_CALIBRATION_VERDICT_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/calibration/verdict_case_run.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// A case of the calibration with its verdict and how wrong the estimate really is.
struct JudgedCase {
  std::int64_t index = 0;
  VerdictCase drawn;
  CaseOutcome outcome = {};
  Judgement judgement = {};

  bool good() const { return drawn.kind == CaseKind::kGood; }
  bool failure() const { return !good() && drawn.kind != CaseKind::kDoubtful; }
  // estimate - truth; none without an estimate.
  std::optional<double> Error() const;
  // What errors are held against: the larger of |truth| and the deviation of a logged return.
  double Size() const;
  // |error| > max(2 standard errors, share * Size()). No estimate counts as wrong.
  bool IsWrong(double share) const;
  // Whether the truth lies in the stated interval, and in the one that no error seen elsewhere
  // widens (CaseOutcome::plain_low); none without an interval.
  std::optional<bool> Covered() const;
  std::optional<bool> CoveredPlainly() const;
};

// What the verdict says of some cases.
struct VerdictCount {
  std::string label;
  std::int64_t cases = 0;
  std::int64_t trust = 0, caution = 0, refused = 0;
  std::int64_t wrong = 0;
  double median_error = 0.0;  // of |error| / Size(), over the cases with an estimate
  // Cases with an interval, and those whose interval holds the truth.
  std::int64_t intervals = 0, covered = 0, plainly_covered = 0;
};

// One entry per plant, then failures and good ones together, then all that are wrong, then all by
// verdict; none is empty.
std::vector<VerdictCount> CountVerdicts(std::span<const JudgedCase> cases, double wrong_share);

// What is shown of one kind of row.
struct CalibrationTable {
  std::string title;  // which estimate is judged
  std::vector<VerdictCount> counts;
  std::string svg;  // the drawn ErrorPlot, or empty
  // Whether every planted failure is to be refused; a doubly robust estimate may survive some.
  bool has_goals = false;
};

// The table for the terminal, and whether its goals are met: 95 % of the failures refused, 90 % of
// the good ones trusted.
std::string CalibrationText(const CalibrationTable& table);

// RFC 4180, one line per case and row; units of the return where a column is one.
std::string CasesCsv(std::span<const JudgedCase> cases, double wrong_share);

// |error| / Size() of every case by kind, one series per verdict.
Plot ErrorPlot(std::span<const JudgedCase> cases);

// The page of a run. The verdict at its top is about the first table; `command` is how to run it
// again.
std::string CalibrationPage(std::span<const CalibrationTable> tables, const std::string& command,
                            double wrong_share);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_VERDICT_TABLE_H_
