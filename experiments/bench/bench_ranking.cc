#include "experiments/bench/bench_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "core/run/text_table.h"
#include "core/statistics.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

// What one estimator gathers over the groups.
struct RankParts {
  std::vector<double> ranks, relative, coverage;
  std::int64_t estimates = 0, refused = 0;
};

constexpr std::array kRankingTitles = {"estimator", "mean rank", "+-",     "relative error",
                                       "covered",   "answers",   "refused"};

std::string PercentOf(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100.0 * *share) : kNoNumber;
}

std::vector<std::string> RankingCells(const BenchRank& rank) {
  return {rank.label(),
          fmt::format("{:.1f}", rank.mean_rank),
          rank.rank_error ? fmt::format("{:.1f}", *rank.rank_error) : kNoNumber,
          PercentOf(rank.relative),
          PercentOf(rank.coverage),
          fmt::format("{}", rank.estimates),
          fmt::format("{}", rank.refused)};
}

}  // namespace

std::vector<BenchRank> RankEstimators(std::span<const BenchScore> scores) {
  std::map<std::pair<std::string, std::string>, RankParts> parts;
  std::size_t group = 0;  // where the group of the score at hand begins
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const BenchScore& score = scores[k];
    if (score.environment != scores[group].environment ||
        score.log_episodes != scores[group].log_episodes) {
      group = k;
    }
    RankParts& own = parts[{score.estimator, score.params}];
    own.ranks.push_back(static_cast<double>(k - group + 1));
    own.estimates += score.estimates;
    own.refused += score.refused;
    if (score.estimates > 0 && score.relative) own.relative.push_back(*score.relative);
    if (score.coverage) own.coverage.push_back(*score.coverage);
  }
  std::vector<BenchRank> ranking;
  for (const auto& [name, own] : parts) {
    BenchRank rank{.estimator = name.first,
                   .params = name.second,
                   .groups = std::ssize(own.ranks),
                   .mean_rank = Mean(own.ranks),
                   .rank_error = {},
                   .relative = {},
                   .coverage = {},
                   .estimates = own.estimates,
                   .refused = own.refused};
    if (own.ranks.size() > 1) rank.rank_error = StandardError(own.ranks);
    if (!own.relative.empty()) rank.relative = Quantile(own.relative, 0.5);
    if (!own.coverage.empty()) rank.coverage = Mean(own.coverage);
    ranking.push_back(std::move(rank));
  }
  std::ranges::stable_sort(ranking, {}, &BenchRank::mean_rank);
  return ranking;
}

bool SeveralGroups(std::span<const BenchRank> ranking) {
  return std::ranges::any_of(ranking, [](const BenchRank& rank) { return rank.groups > 1; });
}

const CsvColumns<BenchRank>& RankingColumns() {
  static const CsvColumns<BenchRank> columns = {
      {"estimator", "", "name of the estimator", &BenchRank::estimator},
      {"params", "", "options that differ from the usual ones", &BenchRank::params},
      {"groups", "", "systems and sizes of the log in which it was asked", &BenchRank::groups},
      {"mean_rank", "", "mean place by RMSE among the estimators of a group",
       &BenchRank::mean_rank},
      {"rank_stderr", "", "standard error of mean_rank", &BenchRank::rank_error},
      {"relative", "", "median over groups of the mean of |value - truth| / |truth|",
       &BenchRank::relative},
      {"coverage", "", "mean over groups of the share of intervals that hold the truth",
       &BenchRank::coverage},
      {"estimates", "", "number of estimates with a value", &BenchRank::estimates},
      {"refused", "", "number of estimates without one", &BenchRank::refused}};
  return columns;
}

std::string RankingText(std::span<const BenchRank> ranking) {
  std::vector<std::vector<std::string>> rows;
  for (const BenchRank& rank : ranking) rows.push_back(RankingCells(rank));
  return FormatTextTable({kRankingTitles.begin(), kRankingTitles.end()}, rows);
}

HtmlTable RankingTable(std::span<const BenchRank> ranking) {
  std::vector<std::vector<std::string>> rows;
  for (const BenchRank& rank : ranking) rows.push_back(RankingCells(rank));
  return NamedNumbersTable(kRankingTitles, std::move(rows));
}

}  // namespace lfiw::experiments
