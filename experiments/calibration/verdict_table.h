#ifndef LFIW_EXPERIMENTS_CALIBRATION_VERDICT_TABLE_H_
#define LFIW_EXPERIMENTS_CALIBRATION_VERDICT_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/csv_columns.h"
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
  // Returns estimate - truth; nothing without an estimate.
  std::optional<double> Error() const;
  // Returns what errors are held against, the size of a return: the larger of |truth| and the
  // standard deviation of a logged return.
  double Size() const;
  // Returns |Error()| / Size(); nothing without an estimate.
  std::optional<double> RelativeError() const;
  // Returns whether |error| > max(2 standard errors, share * Size()). A missing estimate counts as
  // wrong.
  bool IsWrong(double share) const;
  // Return whether the truth lies in the stated interval, and in the one that no error seen
  // elsewhere widens (CaseOutcome::plain_low); nothing without an interval.
  std::optional<bool> Covered() const;
  std::optional<bool> CoveredPlainly() const;
};

// How often each verdict was given to some cases, and how wrong their estimates are.
struct VerdictCount {
  std::string label;
  std::int64_t cases = 0;
  std::int64_t trust = 0, caution = 0, refused = 0;
  std::int64_t wrong = 0;
  std::optional<double> median_error = {};  // of RelativeError(), over the cases with an estimate
  // Cases with an interval, and those whose interval holds the truth.
  std::int64_t intervals = 0, covered = 0, plainly_covered = 0;
};

// Counts the cases in groups that are not empty: one for each planted failure or flaw, all
// failures, all good cases, all that are wrong, and one for each verdict.
std::vector<VerdictCount> CountVerdicts(std::span<const JudgedCase> cases, double wrong_share);

// What is shown of one kind of estimate.
struct CalibrationTable {
  std::string title;  // which estimate is judged
  std::vector<VerdictCount> counts;
  std::string svg;  // the drawn ErrorPlot, or empty
  // Whether every planted failure is to be refused; a doubly robust estimate may survive some.
  bool has_goals = false;
};

// Writes the table for the terminal, and whether its goals are met: 95 % of the failures refused,
// 90 % of the good ones trusted.
std::string CalibrationText(const CalibrationTable& table);

// Returns the columns of results.csv, which has one line for each case and kind of estimate.
CsvColumns<JudgedCase> CaseColumns(double wrong_share);
std::string CasesCsv(std::span<const JudgedCase> cases, double wrong_share);

// Writes summary.csv: the counts and shares that the page shows, one line for each table and group
// of cases.
std::string SummaryCsv(std::span<const CalibrationTable> tables);

// Draws |error| / Size() of every case by kind, one series for each verdict in the color of its
// meaning, and the share of a return beyond which an estimate is called wrong.
Plot ErrorPlot(std::span<const JudgedCase> cases, double wrong_share);

// Writes the page of a run. The verdict at its top is about the first table; `command` is how to
// run it again.
std::string CalibrationPage(std::span<const CalibrationTable> tables, const std::string& command,
                            double wrong_share);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_VERDICT_TABLE_H_
