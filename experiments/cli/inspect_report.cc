#include "experiments/cli/inspect_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/run/text_table.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/json_object.h"
#include "experiments/presentation/number_text.h"
#include "experiments/presentation/subprocess.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

constexpr std::size_t kTextDims = 6;
constexpr std::size_t kTextFindings = 14;
constexpr std::size_t kHistogramBins = 30;

std::string Count(std::int64_t value) { return CountText(static_cast<double>(value)); }

std::string Plural(std::int64_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string SizesText(const AuditReport& report) {
  const std::string actions = report.info.discrete_actions > 0
                                  ? fmt::format("{} discrete actions", report.info.discrete_actions)
                                  : Plural(report.info.action_dim, "action dimension");
  return fmt::format("{}, {}", Plural(report.info.obs_dim, "observation dimension"), actions);
}

std::string CountsText(const AuditReport& report) {
  std::string text = fmt::format("{} episodes ({} terminated, {} cut), {} steps",
                                 Count(report.episodes), Count(report.terminated),
                                 Count(report.episodes - report.terminated), Count(report.steps));
  if (report.counts.file_steps > report.steps) {
    text += fmt::format(" of {} in the file", Count(report.counts.file_steps));
  }
  return text;
}

std::vector<std::string> DistributionRow(const std::string& name, const Distribution& d) {
  std::vector<std::string> row = {name};
  for (const double value :
       {d.mean, d.deviation, d.min, d.quartile1, d.median, d.quartile3, d.max}) {
    row.push_back(d.count > 0 ? NumberText(value) : kNoNumber);
  }
  return row;
}

std::vector<std::string> ColumnRow(const std::string& name, const ColumnSummary& column) {
  if (column.finite == 0) return {name, kNoNumber, kNoNumber, kNoNumber, kNoNumber};
  return {name, NumberText(column.mean), NumberText(column.deviation), NumberText(column.min),
          NumberText(column.max)};
}

// The rows of some columns; more than kTextDims are put together in one.
void AppendColumns(const std::string& name, const std::vector<ColumnSummary>& columns,
                   std::vector<std::vector<std::string>>& rows) {
  if (columns.size() <= kTextDims) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      rows.push_back(ColumnRow(fmt::format("{}[{}]", name, i), columns[i]));
    }
    return;
  }
  ColumnSummary all = columns[0];
  for (const ColumnSummary& column : columns) {
    all.min = std::min(all.min, column.min);
    all.max = std::max(all.max, column.max);
  }
  rows.push_back({fmt::format("{}[0..{}]", name, columns.size() - 1), "", "", NumberText(all.min),
                  NumberText(all.max)});
}

std::vector<std::vector<std::string>> AllColumns(const AuditReport& report) {
  std::vector<std::vector<std::string>> rows;
  AppendColumns("observation", report.observations, rows);
  AppendColumns("action", report.actions, rows);
  rows.push_back(ColumnRow("reward", report.reward));
  if (report.behavior_log_density.finite > 0) {
    rows.push_back(ColumnRow("behavior log-density", report.behavior_log_density));
  }
  return rows;
}

json ToJson(const Distribution& d) {
  if (d.count == 0) return {};
  return {{"mean", NumberOrNull(d.mean)},     {"sd", NumberOrNull(d.deviation)},
          {"min", NumberOrNull(d.min)},       {"q25", NumberOrNull(d.quartile1)},
          {"median", NumberOrNull(d.median)}, {"q75", NumberOrNull(d.quartile3)},
          {"max", NumberOrNull(d.max)}};
}

json ToJson(const ColumnSummary& column) {
  const bool any = column.finite > 0;
  return {{"min", any ? NumberOrNull(column.min) : json()},
          {"max", any ? NumberOrNull(column.max) : json()},
          {"mean", any ? NumberOrNull(column.mean) : json()},
          {"sd", any ? NumberOrNull(column.deviation) : json()},
          {"not_finite", column.not_finite}};
}

json ToJson(const std::vector<ColumnSummary>& columns) {
  json out = json::array();
  for (const ColumnSummary& column : columns) out.push_back(ToJson(column));
  return out;
}

json FindingsJson(const AuditReport& report) {
  json out = json::array();
  for (const Finding& finding : report.findings) {
    out.push_back({{"severity", SeverityName(finding.severity)},
                   {"code", finding.code},
                   {"text", finding.text},
                   {"cure", finding.cure}});
  }
  return out;
}

Plot Histogram(const std::string& title, const std::string& label, std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  Plot plot{.title = title, .x_label = label, .y_label = "episodes"};
  if (values.empty()) return plot;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double min = *low;
  const double width = std::max((*high - min) / static_cast<double>(kHistogramBins), 1e-9);
  PlotSeries bars{.style = PlotStyle::kBars};
  for (std::size_t bin = 0; bin < kHistogramBins; ++bin) {
    bars.x.push_back(min + (static_cast<double>(bin) + 0.5) * width);
    bars.y.push_back(0.0);
  }
  for (const double value : values) {
    const auto bin = static_cast<std::size_t>((value - min) / width);
    bars.y[std::min(bin, kHistogramBins - 1)] += 1.0;
  }
  plot.series = {bars};
  return plot;
}

// Mean and standard deviation of every dimension.
Plot Ranges(const std::string& title, const std::vector<ColumnSummary>& columns) {
  Plot plot{.title = title, .x_label = "dimension", .y_label = "mean, and one standard deviation"};
  PlotSeries series{.style = PlotStyle::kPoints};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(columns[i].mean);
    series.low.push_back(columns[i].mean - columns[i].deviation);
    series.high.push_back(columns[i].mean + columns[i].deviation);
  }
  plot.series = {series};
  return plot;
}

void AddPlots(const AuditReport& report, const PlotOptions& options, HtmlFragment& body) {
  const std::vector<std::pair<std::string, Plot>> plots = {
      {"returns", Histogram("Returns", "return of an episode", report.returns)},
      {"lengths", Histogram("Lengths", "steps of an episode", report.lengths)},
      {"observations", Ranges("Observations", report.observations)},
      {"actions", Ranges("Actions", report.actions)}};
  std::vector<HtmlFragment> drawn;
  for (const auto& [name, plot] : plots) {
    if (plot.series.empty() || !IsDrawable(plot, plot.series[0])) continue;
    try {
      drawn.emplace_back().Figure(name, RenderSvg(plot, options), plot.title);
    } catch (const ProgramError& error) {
      body.Muted(fmt::format("No figures: {}", error.what()));
      return;
    }
  }
  body.Columns(drawn);
}

HtmlTone ToneOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return HtmlTone::kBad;
    case Severity::kWarning:
      return HtmlTone::kWarning;
    case Severity::kNote:
      break;
  }
  return HtmlTone::kNeutral;
}

HtmlTable FindingsTable(const AuditReport& report) {
  HtmlTable table{.columns = {{.title = "Grade"}, {.title = "Finding"}, {.title = "Cure"}}};
  for (const Finding& finding : report.findings) {
    table.rows.push_back(
        {.cells = {HtmlCell::Toned(SeverityName(finding.severity), ToneOf(finding.severity)),
                   finding.text, finding.cure}});
  }
  return table;
}

HtmlTable NumbersTable(std::vector<std::string> titles,
                       const std::vector<std::vector<std::string>>& rows) {
  HtmlTable table;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    table.columns.push_back(
        {.title = titles[i], .align = i == 0 ? HtmlAlign::kText : HtmlAlign::kNumber});
  }
  for (const std::vector<std::string>& row : rows) {
    table.rows.push_back({{row.begin(), row.end()}});
  }
  return table;
}

const std::vector<std::string> kDistributionTitles = {"",    "mean",   "sd",  "min",
                                                      "25%", "median", "75%", "max"};
const std::vector<std::string> kColumnTitles = {"", "mean", "sd", "min", "max"};

}  // namespace

std::string AuditText(const AuditReport& report, const std::string& path) {
  std::string text =
      fmt::format("{}: {}{}\n{}\n{}\n\n", path, report.info.format,
                  report.info.environment.empty() ? "" : ", environment " + report.info.environment,
                  CountsText(report), SizesText(report));
  text +=
      FormatTextTable(kDistributionTitles, {DistributionRow("return", report.return_distribution),
                                            DistributionRow("length", report.length_distribution)});
  text += fmt::format("\n{}\n", FormatTextTable(kColumnTitles, AllColumns(report)));
  for (std::size_t i = 0; i < report.findings.size() && i < kTextFindings; ++i) {
    const Finding& finding = report.findings[i];
    text += fmt::format("{:<8} {}\n", SeverityName(finding.severity), finding.text);
    if (!finding.cure.empty()) text += fmt::format("         -> {}\n", finding.cure);
  }
  if (report.findings.size() > kTextFindings) {
    text +=
        fmt::format("... and {} more (--json lists all)\n", report.findings.size() - kTextFindings);
  }
  return text;
}

json AuditJson(const AuditReport& report, const std::string& path) {
  const bool has_density =
      report.behavior_log_density.finite + report.behavior_log_density.not_finite > 0;
  return {{"schema", 1},
          {"path", path},
          {"format", report.info.format},
          {"environment", report.info.environment},
          {"obs_dim", report.info.obs_dim},
          {"action_dim", report.info.action_dim},
          {"discrete_actions", report.info.discrete_actions},
          {"episodes", report.episodes},
          {"steps", report.steps},
          {"file_steps", report.counts.file_steps},
          {"unrecorded_cuts", report.counts.unrecorded_cuts},
          {"discarded_episodes", report.counts.discarded_episodes},
          {"terminated", report.terminated},
          {"length", ToJson(report.length_distribution)},
          {"return", ToJson(report.return_distribution)},
          {"observations", ToJson(report.observations)},
          {"actions", ToJson(report.actions)},
          {"reward", ToJson(report.reward)},
          {"behavior_log_density", has_density ? ToJson(report.behavior_log_density) : json()},
          {"constant_dims", report.constant_dims},
          {"duplicate_dims", report.duplicate_dims},
          {"findings", FindingsJson(report)}};
}

std::string AuditPage(const AuditReport& report, const std::string& path,
                      const PlotOptions& options) {
  HtmlFragment body;
  body.Heading(1, "Audit of a log");
  body.Muted(fmt::format("{}: {}. {}.", path, report.info.format, SizesText(report)));
  body.Tiles(
      {{"episodes", Count(report.episodes), fmt::format("{} terminated", report.terminated)},
       {"steps", Count(report.steps),
        fmt::format("{} in the file", Count(report.counts.file_steps))},
       {"mean return", DistributionRow("", report.return_distribution)[1],
        fmt::format("standard deviation {}", NumberText(report.return_distribution.deviation))}});
  body.Heading(2, "Findings");
  body.Table(FindingsTable(report));
  body.Heading(2, "Distributions");
  body.Table(
      NumbersTable(kDistributionTitles, {DistributionRow("return", report.return_distribution),
                                         DistributionRow("length", report.length_distribution)}));
  AddPlots(report, options, body);
  body.Heading(2, "Ranges");
  body.Table(NumbersTable(kColumnTitles, AllColumns(report)));
  return HtmlPage("Audit of " + path, body);
}

}  // namespace lfiw::experiments
