#ifndef LFIW_EXPERIMENTS_BENCH_BENCH_RANKING_H_
#define LFIW_EXPERIMENTS_BENCH_BENCH_RANKING_H_

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

// How an estimator does over all systems and sizes of the log, where errors have no common unit.
struct BenchRank {
  std::string estimator, params;
  std::int64_t groups = 0;  // of one system and size each, in which it was asked
  // Its place among the estimators of a group, by RMSE; those that refused some logs come after
  // those that always answer. The mean over groups, and its standard error where there are several.
  double mean_rank = 0.0;
  std::optional<double> rank_error;
  std::optional<double> relative;  // median over groups of mean |error| / |truth|
  std::optional<double> coverage;  // mean over groups of the share of intervals with the truth
  std::int64_t estimates = 0, refused = 0;

  std::string label() const { return LabelOf(estimator, params); }
};

// Ranks the estimators of scores that are in the order of ScoreBench, the best mean rank first.
std::vector<BenchRank> RankEstimators(std::span<const BenchScore> scores);

// Whether there is more than one group to rank over.
bool SeveralGroups(std::span<const BenchRank> ranking);

// Returns the columns of ranking.csv.
const CsvColumns<BenchRank>& RankingColumns();

// A table for the terminal and one for the page.
std::string RankingText(std::span<const BenchRank> ranking);
HtmlTable RankingTable(std::span<const BenchRank> ranking);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_BENCH_BENCH_RANKING_H_
