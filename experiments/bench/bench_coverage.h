#ifndef LFIW_EXPERIMENTS_BENCH_BENCH_COVERAGE_H_
#define LFIW_EXPERIMENTS_BENCH_BENCH_COVERAGE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/csv_columns.h"
#include "experiments/bench/bench_table.h"
#include "experiments/presentation/html_page.h"

namespace lfiw::experiments {

// How one kind of interval of one estimator does over the logs of an environment of one size.
struct CoverageScore {
  std::string environment;
  std::int64_t log_episodes = 0;
  std::string estimator, params;
  std::string kind;
  std::int64_t intervals = 0;
  std::int64_t refused = 0;          // estimates without an interval of this kind
  std::optional<double> coverage;    // share that holds the truth
  std::optional<double> mean_width;  // none for one-sided ones
  bool conservative = false;         // claims at least the level
  std::string assumes;               // what the level rests on
  std::string why_refused;           // the most frequent reason
};

// In order of environments, sizes, estimators and kinds of the records.
std::vector<CoverageScore> ScoreCoverage(std::span<const BenchRecord> records);

// What the coverage says of a claimed level: "as claimed" within two points of it, "too narrow" and
// "too wide" beyond; of a conservative kind "conservative" at or above the level, else "broken";
// "exact" where estimates are the truth and have no width; "refused" where there are none.
std::string JudgeCoverage(const CoverageScore& score, double level);

// Returns the columns of coverage.csv for intervals that aim at `level`.
CsvColumns<CoverageScore> CoverageColumns(double level);
std::string CoverageCsv(std::span<const CoverageScore> scores, double level);

// A table for the terminal and one for the page; empty where nothing has an interval.
std::string CoverageText(std::span<const CoverageScore> scores, double level);
HtmlTable CoverageTable(std::span<const CoverageScore> scores, double level);

// What each kind assumes, a line each.
std::vector<std::string> Assumptions(std::span<const CoverageScore> scores);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_BENCH_BENCH_COVERAGE_H_
