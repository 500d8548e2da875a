#include "experiments/bench/bench_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "core/run/csv_columns.h"
#include "core/run/text_table.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

// Distance from the level within which intervals cover what they claim.
constexpr double kTolerance = 0.02;

// Differences as small as this share of the truth (or of 1) are rounding.
constexpr double kRounding = 1e-9;

// Sums behind one score.
struct Counts {
  CoverageScore score;
  std::int64_t covered = 0;
  double width = 0.0;
  std::map<std::string, std::int64_t> reasons;
};

void Add(const BenchRecord& record, const BenchInterval& interval, Counts& counts) {
  CoverageScore& score = counts.score;
  if (!interval.reason.empty()) {
    ++score.refused;
    ++counts.reasons[interval.reason];
    return;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double low = interval.low.value_or(-kInfinity), high = interval.high.value_or(kInfinity);
  ++score.intervals;
  const double slack = kRounding * std::max(1.0, std::abs(record.truth));
  if (low - slack <= record.truth && record.truth <= high + slack) ++counts.covered;
  counts.width += high - low;
  score.conservative = interval.conservative;
  score.assumes = interval.assumes;
}

CoverageScore Finish(Counts counts) {
  CoverageScore& score = counts.score;
  if (score.intervals > 0) {
    const auto n = static_cast<double>(score.intervals);
    score.coverage = static_cast<double>(counts.covered) / n;
    if (std::isfinite(counts.width)) score.mean_width = counts.width / n;
  }
  if (!counts.reasons.empty()) {
    score.why_refused =
        std::ranges::max_element(counts.reasons, {}, [](const auto& r) { return r.second; })->first;
  }
  return std::move(score);
}

constexpr std::array kCoverageTitles = {"environment", "episodes", "estimator", "interval",
                                        "n",           "covered",  "width",     "verdict"};

std::vector<std::string> Cells(const CoverageScore& score, double level) {
  return {score.environment,
          fmt::format("{}", score.log_episodes),
          LabelOf(score.estimator, score.params),
          score.kind,
          fmt::format("{}", score.intervals),
          score.coverage ? fmt::format("{:.1f} %", 100.0 * *score.coverage) : kNoNumber,
          score.intervals > 0 && !score.mean_width ? "one-sided" : NumberText(score.mean_width),
          JudgeCoverage(score, level)};
}

}  // namespace

std::vector<CoverageScore> ScoreCoverage(std::span<const BenchRecord> records) {
  std::vector<Counts> all;
  std::map<std::tuple<std::string, std::int64_t, std::string, std::string>, std::size_t> places;
  for (const BenchRecord& record : records) {
    for (const BenchInterval& interval : record.intervals) {
      const auto [place, added] = places.insert(
          {{record.environment, record.log_episodes, record.label(), interval.kind}, all.size()});
      if (added) {
        Counts& counts = all.emplace_back();
        counts.score.environment = record.environment;
        counts.score.log_episodes = record.log_episodes;
        counts.score.estimator = record.estimator;
        counts.score.params = record.params;
        counts.score.kind = interval.kind;
      }
      Add(record, interval, all[place->second]);
    }
  }
  std::vector<CoverageScore> scores;
  for (Counts& counts : all) scores.push_back(Finish(std::move(counts)));
  return scores;
}

std::string JudgeCoverage(const CoverageScore& score, double level) {
  if (!score.coverage) return "refused";
  if (score.conservative) return *score.coverage >= level ? "conservative" : "broken";
  if (*score.coverage == 1.0 && score.mean_width && *score.mean_width < kRounding) return "exact";
  // a share on the edge is within, whatever its last bits
  if (*score.coverage < level - kTolerance - kRounding) return "too narrow";
  return *score.coverage > level + kTolerance + kRounding ? "too wide" : "as claimed";
}

CsvColumns<CoverageScore> CoverageColumns(double level) {
  return {{"env", "", "environment", &CoverageScore::environment},
          {"log_episodes", "episodes", "size of the logs", &CoverageScore::log_episodes},
          {"estimator", "", "name of the estimator", &CoverageScore::estimator},
          {"params", "", "options that differ from the usual ones", &CoverageScore::params},
          {"interval", "", "kind of the interval", &CoverageScore::kind},
          {"level", "", "coverage that intervals aim at",
           [level](const CoverageScore&) { return level; }},
          {"intervals", "", "number of intervals", &CoverageScore::intervals},
          {"refused", "", "number of estimates without an interval of this kind",
           &CoverageScore::refused},
          {"coverage", "", "share of the intervals that hold the truth", &CoverageScore::coverage},
          {"mean_width", "return", "mean width; empty for one-sided intervals",
           &CoverageScore::mean_width},
          {"verdict", "", "what the coverage says of the level",
           InQuotes([level](const CoverageScore& s) { return JudgeCoverage(s, level); })},
          {"conservative", "", "yes: the kind claims at least the level",
           [](const CoverageScore& s) { return s.conservative ? "yes" : "no"; }},
          {"assumes", "", "what the level rests on", InQuotes(&CoverageScore::assumes)},
          {"why_refused", "", "the most frequent reason", InQuotes(&CoverageScore::why_refused)}};
}

std::string CoverageCsv(std::span<const CoverageScore> scores, double level) {
  return CoverageColumns(level).Format(scores);
}

std::string CoverageText(std::span<const CoverageScore> scores, double level) {
  if (scores.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const CoverageScore& score : scores) rows.push_back(Cells(score, level));
  return FormatTextTable({kCoverageTitles.begin(), kCoverageTitles.end()}, rows);
}

HtmlTable CoverageTable(std::span<const CoverageScore> scores, double level) {
  HtmlTable table;
  for (const char* title : kCoverageTitles) table.columns.push_back({.title = title});
  for (const CoverageScore& score : scores) {
    HtmlRow row;
    for (std::string& cell : Cells(score, level)) row.cells.emplace_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> Assumptions(std::span<const CoverageScore> scores) {
  std::vector<std::string> lines;
  for (const CoverageScore& score : scores) {
    if (score.assumes.empty()) continue;
    std::string line = fmt::format(
        "{}{}: {}", score.kind, score.conservative ? " (at least its level)" : "", score.assumes);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace lfiw::experiments
