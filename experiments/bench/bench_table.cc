#include "experiments/bench/bench_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/run/csv_columns.h"
#include "core/run/text_table.h"
#include "core/statistics.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/number_text.h"
#include "ope/judgement/bench_metrics.h"
#include "ope/judgement/verdict.h"

namespace lfiw::experiments {
namespace {

// Estimators that a figure can show in distinct colors.
constexpr std::size_t kMostSeries = 6;

using Records = std::vector<const BenchRecord*>;

std::optional<double> MeanOf(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(Mean(values));
}

void SetErrors(const Records& records, BenchScore& score) {
  std::vector<double> values, truths, lows, highs, covered, seconds, half_widths;
  std::int64_t usable = 0, usable_covered = 0;
  std::map<std::string, std::int64_t> reasons;
  for (const BenchRecord* record : records) {
    if (!record->value) {
      ++score.refused;
      ++reasons[record->reason];
      continue;
    }
    values.push_back(*record->value);
    truths.push_back(record->truth);
    if (record->seconds) seconds.push_back(*record->seconds);
    score.trusted += record->verdict == EnumName(Verdict::kTrust) ? 1 : 0;
    score.cautioned += record->verdict == EnumName(Verdict::kCaution) ? 1 : 0;
    score.distrusted += record->verdict == EnumName(Verdict::kDoNotUse) ? 1 : 0;
    if (record->intervals.empty() || !record->intervals.front().reason.empty()) continue;
    const BenchInterval& interval = record->intervals.front();
    lows.push_back(interval.low.value_or(-HUGE_VAL));
    highs.push_back(interval.high.value_or(HUGE_VAL));
    covered.push_back(record->truth);
    half_widths.push_back(0.5 * (highs.back() - lows.back()) / std::abs(record->truth));
    if (record->verdict.empty() || record->verdict == EnumName(Verdict::kDoNotUse)) continue;
    ++usable;
    usable_covered += lows.back() <= record->truth && record->truth <= highs.back() ? 1 : 0;
  }
  if (usable > 0) {
    score.coverage_of_usable = static_cast<double>(usable_covered) / static_cast<double>(usable);
  }
  if (!half_widths.empty()) {
    const double median = Quantile(half_widths, 0.5);
    if (std::isfinite(median)) score.half_width = median;
  }
  score.estimates = std::ssize(values);
  if (!reasons.empty()) {
    score.why_refused =
        std::ranges::max_element(reasons, {}, [](const auto& r) { return r.second; })->first;
  }
  if (!covered.empty()) score.coverage = Coverage(lows, highs, covered);
  score.seconds = MeanOf(seconds);
  if (values.empty()) return;
  const ErrorMetrics errors = MeasureErrors(values, truths);
  score.bias = errors.bias;
  score.mae = errors.mae;
  score.rmse = errors.rmse;
  score.relative = errors.relative;
}

// Rankings of the policies of one log each, averaged.
void SetRankings(const Records& records, BenchScore& score) {
  std::map<std::pair<std::string, std::uint64_t>, Records> logs;
  for (const BenchRecord* record : records) {
    if (record->value) logs[{record->behavior, record->seed}].push_back(record);
  }
  std::vector<double> spearman, kendall, regret, top;
  for (const auto& [log, policies] : logs) {
    if (policies.size() < 2) continue;
    std::vector<double> values, truths;
    for (const BenchRecord* record : policies) {
      values.push_back(*record->value);
      truths.push_back(record->truth);
    }
    if (const auto r = SpearmanCorrelation(values, truths)) spearman.push_back(*r);
    if (const auto r = KendallCorrelation(values, truths)) kendall.push_back(*r);
    if (const auto r = RegretAtK(values, truths, 1)) regret.push_back(*r);
    top.push_back(TopKPrecision(values, truths, 1));
  }
  score.spearman = MeanOf(spearman);
  score.kendall = MeanOf(kendall);
  score.regret_at_1 = MeanOf(regret);
  score.top_1 = MeanOf(top);
}

std::string Number(const std::optional<double>& value, int digits = 4) {
  return value ? FormatRounded(*value, digits) : kNoNumber;
}

std::string Percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f} %", 100.0 * *value) : kNoNumber;
}

constexpr std::array kTitles = {"estimator", "n",          "refused",  "bias",
                                "RMSE",      "relative",   "Spearman", "regret@1",
                                "covered",   "half width", "verdicts", "time"};

std::vector<std::string> Cells(const BenchScore& score) {
  const bool any = score.estimates > 0;
  const auto number = [any](double value) { return any ? FormatRounded(value) : kNoNumber; };
  return {score.label(),
          fmt::format("{}", score.estimates),
          fmt::format("{}", score.refused),
          number(score.bias),
          number(score.rmse),
          Percent(score.relative),
          Number(score.spearman, 2),
          Number(score.regret_at_1, 2),
          Percent(score.coverage),
          Percent(score.half_width),
          VerdictsText(score),
          DurationText(score.seconds)};
}

// Consecutive scores of one environment and size.
std::vector<std::span<const BenchScore>> Groups(std::span<const BenchScore> scores) {
  std::vector<std::span<const BenchScore>> groups;
  for (std::size_t begin = 0; begin < scores.size();) {
    std::size_t end = begin;
    while (end < scores.size() && scores[end].environment == scores[begin].environment &&
           scores[end].log_episodes == scores[begin].log_episodes) {
      ++end;
    }
    groups.push_back(scores.subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

// The best estimators of an environment at its largest log.
std::vector<std::string> BestOf(std::span<const BenchScore> scores,
                                const std::string& environment) {
  std::vector<std::string> names;
  std::int64_t largest = 0;
  for (const BenchScore& score : scores) {
    if (score.environment == environment) largest = std::max(largest, score.log_episodes);
  }
  for (const BenchScore& score : scores) {
    const bool here = score.environment == environment && score.log_episodes == largest;
    if (here && score.estimates > 0 && names.size() < kMostSeries) {
      names.push_back(score.label());
    }
  }
  return names;
}

// An estimator's error for one policy at the largest log of its environment.
struct MismatchPoint {
  std::string environment, label;
  double mismatch = 0.0, rmse = 0.0, truth = 0.0;
};

// Of all policies with a known mismatch, in its order.
std::vector<MismatchPoint> MismatchPoints(std::span<const BenchRecord> records) {
  std::map<std::string, std::int64_t> largest;
  for (const BenchRecord& record : records) {
    std::int64_t& size = largest[record.environment];
    size = std::max(size, record.log_episodes);
  }
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Records> groups;
  for (const BenchRecord& record : records) {
    const bool counts = record.value && record.mismatch;
    if (!counts || record.log_episodes != largest[record.environment]) continue;
    groups[{record.environment, record.behavior, record.policy, record.label()}].push_back(&record);
  }
  std::vector<MismatchPoint> points;
  for (const auto& [key, group] : groups) {
    MismatchPoint point{
        .environment = std::get<0>(key), .label = std::get<3>(key), .truth = group.front()->truth};
    double squares = 0.0;
    for (const BenchRecord* record : group) {
      point.mismatch += *record->mismatch / static_cast<double>(group.size());
      squares += (*record->value - record->truth) * (*record->value - record->truth);
    }
    point.rmse = std::sqrt(squares / static_cast<double>(group.size()));
    points.push_back(std::move(point));
  }
  std::ranges::stable_sort(points, {}, &MismatchPoint::mismatch);
  return points;
}

// The interval of results.csv; one without ends where there is none.
BenchInterval FirstInterval(const BenchRecord& record) {
  return record.intervals.empty() ? BenchInterval{} : record.intervals.front();
}

std::optional<double> ErrorOf(const BenchRecord& record) {
  return record.value ? std::optional(*record.value - record.truth) : std::nullopt;
}

// Reads a mean over the estimates of a score; nothing where there are none.
auto OfEstimates(double BenchScore::*member) {
  return [member](const BenchScore& score) {
    return score.estimates > 0 ? std::optional(score.*member) : std::nullopt;
  };
}

bool HasVerdicts(const BenchScore& score) {
  return score.trusted + score.cautioned + score.distrusted > 0;
}

// Reads a number of verdicts; nothing where no answer has one.
auto OfVerdicts(std::int64_t BenchScore::*member) {
  return [member](const BenchScore& score) {
    return HasVerdicts(score) ? std::optional(score.*member) : std::nullopt;
  };
}

void AddFigures(const std::vector<BenchFigure>& figures, const std::string& environment,
                HtmlFragment& page) {
  std::vector<HtmlFragment> drawn;
  for (const BenchFigure& figure : figures) {
    if (figure.environment == environment) {
      drawn.emplace_back().Figure(figure.name, figure.svg, figure.caption);
    }
  }
  if (!drawn.empty()) page.Columns(drawn);
}

HtmlTable TableOf(std::span<const BenchScore> group) {
  std::vector<std::vector<std::string>> rows;
  for (const BenchScore& score : group) rows.push_back(Cells(score));
  return NamedNumbersTable(kTitles, std::move(rows));
}

}  // namespace

HtmlTable NamedNumbersTable(std::span<const char* const> titles,
                            std::vector<std::vector<std::string>> rows) {
  HtmlTable table;
  for (const char* title : titles) {
    table.columns.push_back(
        {.title = title, .align = table.columns.empty() ? HtmlAlign::kText : HtmlAlign::kNumber});
  }
  for (std::vector<std::string>& cells : rows) {
    HtmlRow row;
    for (std::string& cell : cells) row.cells.emplace_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string VerdictsText(const BenchScore& score) {
  if (!HasVerdicts(score)) return "";
  return fmt::format("{} / {} / {}", score.trusted, score.cautioned, score.distrusted);
}

std::vector<BenchScore> ScoreBench(std::span<const BenchRecord> records) {
  // by place of the environment, size, name and params of the estimator
  const std::vector<std::string> environments = EnvironmentsOf(records);
  std::map<std::tuple<std::ptrdiff_t, std::int64_t, std::string, std::string>, Records> groups;
  for (const BenchRecord& record : records) {
    const auto place = std::ranges::find(environments, record.environment) - environments.begin();
    groups[{place, record.log_episodes, record.estimator, record.params}].push_back(&record);
  }
  std::vector<BenchScore> scores;
  for (const auto& [key, group] : groups) {
    BenchScore score;
    score.environment = environments[static_cast<std::size_t>(std::get<0>(key))];
    score.log_episodes = std::get<1>(key);
    score.estimator = std::get<2>(key);
    score.params = std::get<3>(key);
    SetErrors(group, score);
    SetRankings(group, score);
    scores.push_back(std::move(score));
  }
  const auto order = [&](const BenchScore& score) {
    return std::tuple(std::ranges::find(environments, score.environment) - environments.begin(),
                      score.log_episodes, score.estimates == 0, score.refused > 0, score.rmse,
                      score.estimator, score.params);
  };
  std::ranges::sort(scores, {}, order);
  return scores;
}

const CsvColumns<BenchRecord>& BenchColumns() {
  static const CsvColumns<BenchRecord> columns = {
      {"env", "", "environment", &BenchRecord::environment},
      {"behavior", "", "policy that wrote the log", InQuotes(&BenchRecord::behavior)},
      {"policy", "", "evaluated policy", InQuotes(&BenchRecord::policy)},
      {"estimator", "", "name of the estimator", &BenchRecord::estimator},
      {"params", "", "options that differ from the usual ones", &BenchRecord::params},
      {"log_episodes", "episodes", "size of the log", &BenchRecord::log_episodes},
      {"seed", "", "seed of the log", &BenchRecord::seed},
      {"value", "return", "estimate of the policy's value", &BenchRecord::value},
      {"stderr", "return", "standard error of value", &BenchRecord::standard_error},
      {"ci_low", "return", "lower end of the interval; empty where it has none",
       [](const BenchRecord& r) { return FirstInterval(r).low; }},
      {"ci_high", "return", "upper end of the interval; empty where it has none",
       [](const BenchRecord& r) { return FirstInterval(r).high; }},
      {"interval_method", "", "kind of the interval",
       [](const BenchRecord& r) { return FirstInterval(r).kind; }},
      {"ess", "episodes", "effective sample size of the weights", &BenchRecord::ess},
      {"khat", "", "Pareto shape of the largest weights", &BenchRecord::khat},
      {"truth", "return", "true value of the policy", &BenchRecord::truth},
      {"truth_stderr", "return", "standard error of truth", &BenchRecord::truth_standard_error},
      {"error", "return", "value - truth", ErrorOf},
      {"mismatch", "nats per step", "how far the evaluated policy is from the behavior policy",
       &BenchRecord::mismatch},
      {"reason", "", "why there is no value, or no interval", InQuotes(&BenchRecord::reason)},
      {"verdict", "", "of `stated`: trust, caution or do not use", &BenchRecord::verdict},
      {"notes", "", "remarks of the estimator",
       InQuotes([](const BenchRecord& r) { return fmt::format("{}", fmt::join(r.notes, "; ")); })}};
  return columns;
}

const CsvColumns<BenchRecord>& TimingColumns() {
  static const CsvColumns<BenchRecord> columns = {
      {"env", "", "environment", &BenchRecord::environment},
      {"behavior", "", "policy that wrote the log", InQuotes(&BenchRecord::behavior)},
      {"policy", "", "evaluated policy", InQuotes(&BenchRecord::policy)},
      {"estimator", "", "name of the estimator", &BenchRecord::estimator},
      {"params", "", "options that differ from the usual ones", &BenchRecord::params},
      {"log_episodes", "episodes", "size of the log", &BenchRecord::log_episodes},
      {"seed", "", "seed of the log", &BenchRecord::seed},
      {"seconds", "s", "wall time of the fits that the estimator needs and of the estimate",
       &BenchRecord::seconds}};
  return columns;
}

const CsvColumns<BenchScore>& ScoreColumns() {
  static const CsvColumns<BenchScore> columns = {
      {"env", "", "environment; empty: the mean over all", &BenchScore::environment},
      {"log_episodes", "episodes", "size of the logs", &BenchScore::log_episodes},
      {"estimator", "", "name of the estimator", &BenchScore::estimator},
      {"params", "", "options that differ from the usual ones", &BenchScore::params},
      {"estimates", "", "number of estimates with a value", &BenchScore::estimates},
      {"refused", "", "number of estimates without one", &BenchScore::refused},
      {"bias", "return", "mean of value - truth", OfEstimates(&BenchScore::bias)},
      {"mae", "return", "mean of |value - truth|", OfEstimates(&BenchScore::mae)},
      {"rmse", "return", "root of the mean of (value - truth)^2", OfEstimates(&BenchScore::rmse)},
      {"relative", "", "mean of |value - truth| / |truth|", &BenchScore::relative},
      {"spearman", "", "rank correlation of values and truths over the policies of a log",
       &BenchScore::spearman},
      {"kendall", "", "the share of concordant less that of discordant pairs of policies",
       &BenchScore::kendall},
      {"regret_at_1", "return", "truth of the best policy less that of the one ranked first",
       &BenchScore::regret_at_1},
      {"top_1", "", "share of logs whose best policy is ranked first", &BenchScore::top_1},
      {"coverage", "", "share of the intervals that hold the truth", &BenchScore::coverage},
      {"half_width", "", "median of half the intervals' widths, by |truth|",
       &BenchScore::half_width},
      {"trusted", "", "answers with the verdict trust", OfVerdicts(&BenchScore::trusted)},
      {"cautioned", "", "answers with the verdict caution", OfVerdicts(&BenchScore::cautioned)},
      {"distrusted", "", "answers with the verdict do not use",
       OfVerdicts(&BenchScore::distrusted)},
      {"coverage_of_usable", "", "coverage of the answers with trust or caution",
       &BenchScore::coverage_of_usable},
      {"why_refused", "", "the most frequent reason", InQuotes(&BenchScore::why_refused)}};
  return columns;
}

std::string BenchCsv(std::span<const BenchRecord> records) {
  return BenchColumns().Format(records);
}

std::string TimingsCsv(std::span<const BenchRecord> records) {
  return TimingColumns().Format(records);
}

std::string ScoresCsv(std::span<const BenchScore> scores) { return ScoreColumns().Format(scores); }

std::string BenchText(std::span<const BenchScore> scores) {
  std::string text;
  for (const auto& group : Groups(scores)) {
    text += fmt::format("{}, logs of {} episodes\n", group.front().environment,
                        group.front().log_episodes);
    std::vector<std::vector<std::string>> rows;
    for (const BenchScore& score : group) rows.push_back(Cells(score));
    text += FormatTextTable({kTitles.begin(), kTitles.end()}, rows) + "\n";
  }
  return text;
}

Plot TruthPlot(std::span<const BenchRecord> records, std::span<const BenchScore> scores,
               const std::string& environment) {
  Plot plot{.title = environment, .x_label = "true value", .y_label = "estimate"};
  std::int64_t largest = 0;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const BenchRecord& record : records) {
    if (record.environment != environment) continue;
    largest = std::max(largest, record.log_episodes);
    low = std::min(low, record.truth);
    high = std::max(high, record.truth);
  }
  plot.series.push_back({.label = "estimate = truth",
                         .x = {low, high},
                         .y = {low, high},
                         .style = PlotStyle::kGuide});
  for (const std::string& name : BestOf(scores, environment)) {
    PlotSeries series{.label = name, .style = PlotStyle::kPoints};
    for (const BenchRecord& record : records) {
      if (record.environment != environment || record.label() != name ||
          record.log_episodes != largest || !record.value) {
        continue;
      }
      series.x.push_back(record.truth);
      series.y.push_back(*record.value);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot SizePlot(std::span<const BenchScore> scores, const std::string& environment) {
  Plot plot{.title = environment,
            .x_label = "logged episodes",
            .y_label = "RMSE",
            .x_scale = PlotScale::kLog,
            .y_scale = PlotScale::kLog};
  for (const std::string& name : BestOf(scores, environment)) {
    PlotSeries series{.label = name};
    for (const BenchScore& score : scores) {
      if (score.environment != environment || score.label() != name || score.estimates == 0) {
        continue;
      }
      series.x.push_back(static_cast<double>(score.log_episodes));
      series.y.push_back(score.rmse);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot MismatchPlot(std::span<const BenchRecord> records, std::span<const BenchScore> scores,
                  const std::string& environment) {
  Plot plot{.title = environment,
            .x_label = "mismatch of the policies (nats per step)",
            .y_label = "RMSE",
            .y_scale = PlotScale::kLog};
  const std::vector<MismatchPoint> points = MismatchPoints(records);
  for (const std::string& name : BestOf(scores, environment)) {
    PlotSeries series{.label = name};
    for (const MismatchPoint& point : points) {
      if (point.environment != environment || point.label != name) continue;
      series.x.push_back(point.mismatch);
      series.y.push_back(point.rmse);
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot MismatchPlot(std::span<const BenchRecord> records) {
  Plot plot{.title = "all environments",
            .x_label = "mismatch of the policies (nats per step)",
            .y_label = "RMSE / |truth|",
            .y_scale = PlotScale::kLog};
  std::map<std::string, PlotSeries> by_name;
  for (const MismatchPoint& point : MismatchPoints(records)) {
    // what is exact but for rounding would take the whole axis
    constexpr double kRounding = 1e-9;
    const double share = point.rmse / std::abs(point.truth);
    if (!(std::isfinite(share) && share > kRounding)) continue;
    PlotSeries& series = by_name[point.label];
    series.label = point.label;
    series.style = PlotStyle::kPoints;
    series.x.push_back(point.mismatch);
    series.y.push_back(share);
  }
  std::size_t most = 0;
  for (const auto& [name, series] : by_name) most = std::max(most, series.x.size());
  for (auto& [name, series] : by_name) {
    if (2 * series.x.size() >= most) plot.series.push_back(std::move(series));
  }
  std::ranges::stable_sort(plot.series, {}, [](const PlotSeries& s) { return Quantile(s.y, 0.5); });
  if (plot.series.size() > kMostSeries) plot.series.resize(kMostSeries);
  return plot;
}

std::vector<std::string> EnvironmentsOf(std::span<const BenchRecord> records) {
  std::vector<std::string> names;
  for (const BenchRecord& record : records) {
    if (std::ranges::find(names, record.environment) == names.end()) {
      names.push_back(record.environment);
    }
  }
  return names;
}

std::string BenchPage(std::span<const BenchScore> scores, const std::vector<BenchFigure>& figures,
                      const HtmlFragment& ranking, const HtmlFragment& coverage,
                      const std::string& command) {
  HtmlFragment page;
  page.Heading(1, "Estimators against known values");
  page.Paragraph(
      "Each row is one estimator over all logs of one size: errors are estimate minus truth, in "
      "units of the return; covered is the share of intervals that hold the truth; Spearman is the "
      "rank correlation over the policies of a log, regret@1 what choosing the policy with the "
      "highest estimate loses, as a share of the range of the true values; half width is the "
      "median of half the intervals' widths, as a share of the truth. The row stated is the answer "
      "that lfiw evaluate gives first, with how many of them have the verdict trust / caution / "
      "do not use. Time is that of all fits that the estimator needs, whoever shares them, and of "
      "the estimate with its intervals.");
  page.Append(ranking);
  AddFigures(figures, "", page);
  std::string shown;
  for (const auto& group : Groups(scores)) {
    const std::string& environment = group.front().environment;
    if (environment != shown) {
      page.Heading(2, environment);
      AddFigures(figures, environment, page);
      shown = environment;
    }
    page.Heading(3, fmt::format("Logs of {} episodes", group.front().log_episodes));
    page.Table(TableOf(group));
    std::vector<std::string> reasons;
    for (const BenchScore& score : group) {
      if (!score.why_refused.empty()) {
        reasons.push_back(fmt::format("{}: {}", score.label(), score.why_refused));
      }
    }
    if (!reasons.empty()) {
      HtmlFragment list;
      list.List(reasons);
      page.Details("Why estimators refused", list);
    }
  }
  page.Append(coverage);
  page.Heading(2, "Run it again");
  page.Code(command);
  return HtmlPage("Estimators against known values", page);
}

}  // namespace lfiw::experiments
