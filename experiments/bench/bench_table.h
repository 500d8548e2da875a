#ifndef LFIW_EXPERIMENTS_BENCH_BENCH_TABLE_H_
#define LFIW_EXPERIMENTS_BENCH_BENCH_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/csv_columns.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// One interval of an estimate; an absent end is infinite.
struct BenchInterval {
  std::string kind;
  std::optional<double> low, high;
  std::string reason = {};   // why there is none
  std::string assumes = {};  // what its level rests on
  bool conservative = false;
};

// Names an estimator with what its options differ in, so that two sets of them are two rows.
inline std::string LabelOf(const std::string& estimator, const std::string& params) {
  return params.empty() ? estimator : estimator + " " + params;
}

// One estimate of the benchmark.
struct BenchRecord {
  std::string environment;
  std::string behavior;
  std::string policy;
  std::string estimator;
  std::string params = {};  // where its options are not the usual ones: "ratios.max_weight=20"
  std::int64_t log_episodes = 0;
  std::uint64_t seed = 0;
  double truth = 0.0;
  double truth_standard_error = 0.0;
  std::optional<double> value, standard_error, ess, khat;
  std::vector<BenchInterval> intervals;  // the first is the one of results.csv and scores
  std::optional<double> mismatch;        // PolicyMismatch; none where it is infinite or unknown
  std::string reason;                    // why there is no value, or no interval
  std::string verdict = {};              // of answers that `lfiw evaluate` states, with reasons
  std::vector<std::string> notes;
  // Wall time of the fits that the estimator needs, each in full, of the estimate and its
  // intervals; none where a fit came from a cache that did not record it.
  std::optional<double> seconds;

  // Returns what names its estimator in tables and figures: name and params.
  std::string label() const { return LabelOf(estimator, params); }
};

// How an estimator does over a set of records. Errors are averages over the records with a value.
struct BenchScore {
  std::string environment;  // empty: the mean over environments of what has no unit
  std::string estimator, params;
  std::int64_t log_episodes = 0;
  std::int64_t estimates = 0;  // with a value
  std::int64_t refused = 0;
  double bias = 0.0, mae = 0.0, rmse = 0.0;  // in units of the return; 0 where environment is empty
  std::optional<double> relative;            // mean |error| / |truth|
  // Over the policies of one log, averaged over logs; need several policies.
  std::optional<double> spearman, kendall, regret_at_1, top_1;
  std::optional<double> coverage;    // of the intervals, share of those that hold the truth
  std::optional<double> half_width;  // median of half the intervals' widths, as a share of |truth|
  // Of answers with a verdict: how many have which, and the coverage of those not refused by it.
  std::int64_t trusted = 0, cautioned = 0, distrusted = 0;
  std::optional<double> coverage_of_usable;
  std::optional<double> seconds;  // mean, see BenchRecord
  std::string why_refused;        // the most frequent reason

  std::string label() const { return LabelOf(estimator, params); }
};

// Tells how many answers have which verdict, "8 / 1 / 1" for trust, caution and do not use; empty
// where there are none.
std::string VerdictsText(const BenchScore& score);

// One score per environment, size of the log, estimator and params, the smallest RMSE first within
// its environment and size; after those that always answer come those that refused some logs,
// perhaps the hard ones.
std::vector<BenchScore> ScoreBench(std::span<const BenchRecord> records);

// Return the columns of results.csv, timings.csv and scores.csv.
const CsvColumns<BenchRecord>& BenchColumns();
const CsvColumns<BenchRecord>& TimingColumns();
const CsvColumns<BenchScore>& ScoreColumns();

std::string BenchCsv(std::span<const BenchRecord> records);
// Writes the seconds of each estimate, which differ from run to run and so are in no other file of
// numbers.
std::string TimingsCsv(std::span<const BenchRecord> records);
std::string ScoresCsv(std::span<const BenchScore> scores);

// Tables for the terminal, one per environment and size.
std::string BenchText(std::span<const BenchScore> scores);

// Estimates against truths of one environment at its largest log, one series per estimator (the
// best few by RMSE).
Plot TruthPlot(std::span<const BenchRecord> records, std::span<const BenchScore> scores,
               const std::string& environment);
// RMSE against the size of the log.
Plot SizePlot(std::span<const BenchScore> scores, const std::string& environment);

// RMSE against the mismatch of the policies in one environment, a point for each policy at its
// largest log.
Plot MismatchPlot(std::span<const BenchRecord> records, std::span<const BenchScore> scores,
                  const std::string& environment);
// The same over all environments with RMSE as a share of |truth|, of the estimators that answer for
// at least half the policies and do best at the median; truths of 0 and exact answers are left out.
Plot MismatchPlot(std::span<const BenchRecord> records);

// The environments of the records, in their order.
std::vector<std::string> EnvironmentsOf(std::span<const BenchRecord> records);

// A table for the page whose first column is text and the others numbers.
HtmlTable NamedNumbersTable(std::span<const char* const> titles,
                            std::vector<std::vector<std::string>> rows);

struct BenchFigure {
  std::string environment;  // empty: of all
  std::string name, svg, caption;
};
// `ranking` stands where the page begins, `coverage` before the command, where it ends.
std::string BenchPage(std::span<const BenchScore> scores, const std::vector<BenchFigure>& figures,
                      const HtmlFragment& ranking, const HtmlFragment& coverage,
                      const std::string& command);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_BENCH_BENCH_TABLE_H_
