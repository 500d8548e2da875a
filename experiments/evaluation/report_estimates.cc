#include "experiments/evaluation/report_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/index_list.h"
#include "experiments/evaluation/report_rows.h"
#include "experiments/presentation/number_text.h"
#include "ope/rollouts/rollout_estimators.h"

namespace lfiw::experiments {
namespace {

using Value = std::optional<double>;

// The span that the interval drawings share.
struct Span {
  double low = 0.0;
  double high = 1.0;

  void Take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// The value at a share of the way through sorted values.
double AtShare(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

// Holds the bulk of the intervals, half their common width on either side, the stated one and the
// truth. What lies far outside does not stretch it.
Span DrawingSpan(const std::vector<JsonObject>& rows, std::optional<std::size_t> stated,
                 const Value& truth) {
  std::vector<double> lows, highs;
  for (const JsonObject& row : rows) {
    const Value value = row.Number("value");
    if (!value) continue;
    lows.push_back(row.Number("ci_low").value_or(*value));
    highs.push_back(row.Number("ci_high").value_or(*value));
  }
  if (lows.empty()) return {};
  Span span = {AtShare(lows, 0.25), AtShare(highs, 0.75)};
  const double reach = 0.5 * (span.high - span.low);
  span = {std::max(span.low - reach, std::ranges::min(lows)),
          std::min(span.high + reach, std::ranges::max(highs))};
  if (truth) span.Take(*truth);
  if (stated) {
    for (const char* key : {"value", "ci_low", "ci_high"}) {
      if (const Value end = rows[*stated].Number(key)) span.Take(*end);
    }
  }
  const double room = std::max(0.04 * (span.high - span.low), 1e-9 * std::abs(span.high) + 1e-12);
  return {span.low - room, span.high + room};
}

// Arrow heads at the edges of a drawing.
constexpr const char* kArrowLeft = "<path d=\"M7 4L1 9L7 14Z\" fill=\"var(--accent)\"/>";
constexpr const char* kArrowRight = "<path d=\"M113 4L119 9L113 14Z\" fill=\"var(--accent)\"/>";

// The interval as a bar, the value as a dot and the truth as a line, 120 x 18 pixels. What lies
// beyond the span ends in an arrow head.
std::string IntervalDrawing(const JsonObject& row, const Value& truth, const Span& span) {
  const auto x = [&](double value) {
    return std::clamp(120.0 * (value - span.low) / (span.high - span.low), 0.0, 120.0);
  };
  const Value low = row.Number("ci_low"), high = row.Number("ci_high"), value = row.Number("value");
  std::string svg = fmt::format(
      "<svg role=\"img\" aria-label=\"{}\" width=\"120\" height=\"18\" viewBox=\"0 0 120 18\">",
      low && high ? fmt::format("interval from {} to {}", NumberText(*low), NumberText(*high))
                  : "no interval");
  if (truth)
    svg += fmt::format(
        "<path d=\"M{0:.1f} 0V18\" stroke=\"var(--good)\" stroke-width=\"1.5\" "
        "stroke-dasharray=\"3 2\"/>",
        x(*truth));
  if (low && high)
    svg += fmt::format(
        "<path d=\"M{:.1f} 9H{:.1f}\" stroke=\"var(--accent)\" stroke-width=\"4\" "
        "opacity=\"0.45\"/>",
        x(*low), x(*high));
  if (value && *value > span.low && *value < span.high)
    svg +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"9\" r=\"3.5\" fill=\"var(--accent)\"/>", x(*value));
  if ((value && *value <= span.low) || (low && *low < span.low)) svg += kArrowLeft;
  if ((value && *value >= span.high) || (high && *high > span.high)) svg += kArrowRight;
  return svg + "</svg>";
}

std::string KhatExplanation(const JsonObject& report) {
  const auto sweep = report.Object("sweep");
  const Value threshold = sweep ? sweep->Number("khat_threshold") : std::nullopt;
  return "How heavy the tail of the weights is; reliable below " +
         (threshold ? FixedText(threshold, 2) : "0.5 to 0.7, depending on the number of rollouts");
}

// The numbers of the rows in the order of the table: the stated one first.
std::vector<std::size_t> OrderOf(std::size_t count, std::optional<std::size_t> stated) {
  std::vector<std::size_t> order = IndexList(count);
  if (stated)
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(*stated),
                order.begin() + static_cast<std::ptrdiff_t>(*stated) + 1);
  return order;
}

std::vector<HtmlColumn> MainColumns(const JsonObject& report, const Span& span) {
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  return {
      {"Estimator"},
      {"H", kNumber, "Steps, from the start, that are weighted"},
      {"Value", kNumber},
      {"\xC2\xB1", kNumber, "One standard error"},
      {IntervalName(report), kNumber},
      {fmt::format("{} \xE2\x80\xA6 {}", NumberText(span.low, 3), NumberText(span.high, 3)),
       HtmlAlign::kText,
       "Interval (bar), value (dot) and truth (dashes) on this axis; an arrow head: beyond it"},
      {"ESS", kNumber, "Effective sample size: how many rollouts or episodes carry the estimate"},
      {"k-hat", kNumber, KhatExplanation(report)}};
}

HtmlTable MainTable(const JsonObject& report, const std::vector<JsonObject>& rows) {
  const Value truth = KnownValue(report, "truth").value;
  const auto headline = HeadlineIndex(report, rows);
  const Span span = DrawingSpan(rows, headline, truth);
  const bool remarks = std::any_of(
      rows.begin(), rows.end(), [](const JsonObject& row) { return !row.Text("reason").empty(); });
  HtmlTable table{.columns = MainColumns(report, span)};
  if (truth) table.columns.push_back({"Error", HtmlAlign::kNumber, "Value minus truth"});
  if (remarks) table.columns.push_back({"Remark"});
  for (const std::size_t i : OrderOf(rows.size(), headline)) {
    const JsonObject& row = rows[i];
    const int decimals = RowDecimals(row);
    HtmlRow cells{.cells = {EstimatorName(row),
                            row.Number("horizon") ? NumberText(row.Number("horizon")) : "",
                            ValueText(row), FixedText(row.Number("stderr"), decimals),
                            IntervalText(row),
                            HtmlCell::Drawing(IntervalDrawing(row, truth, span), IntervalText(row)),
                            NumberText(row.Number("ess"), 3), FixedText(row.Number("khat"), 2)}};
    if (truth) cells.cells.push_back(FixedText(row.Number("error"), decimals));
    if (remarks) cells.cells.push_back(VerdictCell(row.Text("reason")));
    if (headline == i) cells.emphasis = HtmlEmphasis::kStrong;
    table.rows.push_back(std::move(cells));
  }
  return table;
}

HtmlTable DetailTable(const std::vector<JsonObject>& rows) {
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  HtmlTable table{.columns = {{"Estimator"},
                              {"Parameters"},
                              {"Value", kNumber},
                              {"SE within", kNumber,
                               "Part of the standard error from the rollouts or episodes"},
                              {"SE between", kNumber,
                               "Part of the standard error from one classifier to "
                               "another"},
                              {"Largest weight", kNumber, "Largest share of the total weight"},
                              {"What the interval covers"}}};
  for (const JsonObject& row : rows) {
    const int decimals = RowDecimals(row);
    table.rows.push_back(
        {{RowName(row), ParametersText(row), ValueText(row),
          FixedText(row.Number("se_within"), decimals),
          FixedText(row.Number("se_between"), decimals), NumberText(row.Number("max_weight"), 3),
          MethodText(row.Text("interval_method"))}});
  }
  return table;
}

// The rows that the paper's table compares: the plain model, and each weighting by its H.
struct PaperRows {
  std::optional<JsonObject> model;
  std::map<std::string, std::map<double, JsonObject>> weighted;  // [estimator][H]
  std::set<double, std::greater<>> horizons;                     // the largest, T, first
};

PaperRows FindPaperRows(const std::vector<JsonObject>& rows) {
  PaperRows found;
  std::map<std::string, std::set<std::string>> variants;  // parameters of each estimator
  for (const JsonObject& row : rows) variants[row.Text("estimator")].insert(ParametersText(row));
  for (const JsonObject& row : rows) {
    const Value horizon = row.Number("horizon");
    const std::string estimator = row.Text("estimator");
    const bool model = estimator == kModelEstimator || (horizon && *horizon == 0.0);
    if (model) {
      if (!found.model || estimator == kModelEstimator) found.model = row;
    } else if (horizon) {
      // parameters are said where they tell rows apart; the folded table has them all
      const std::string name = variants[estimator].size() == 1 || ParametersText(row).empty()
                                   ? estimator
                                   : estimator + " (" + ParametersText(row) + ")";
      found.weighted[name].emplace(*horizon, row);
      found.horizons.insert(*horizon);
    }
  }
  return found;
}

HtmlTable PaperTable(const JsonObject& report, const PaperRows& found) {
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  HtmlTable table{
      .caption =
          "Value \xC2\xB1 standard error: the truth v, the model alone \xE1\xB9\xBD, "
          "and weighted over the first H steps v\xCC\x82_H.",
      .columns = {{"Weights"}, {"v (truth)", kNumber}, {"\xE1\xB9\xBD (model)", kNumber}}};
  for (const double horizon : found.horizons)
    table.columns.push_back({fmt::format("v\xCC\x82_{}", NumberText(horizon)), kNumber,
                             fmt::format("Weights of the first {} steps", NumberText(horizon))});
  const auto estimate = [](const JsonObject& row) {
    return EstimateText(row.Number("value"), row.Number("stderr"));
  };
  const Known truth = KnownValue(report, "truth");
  for (const auto& [estimator, by_horizon] : found.weighted) {
    HtmlRow row{.cells = {estimator, EstimateText(truth.value, truth.stderr_value),
                          found.model ? estimate(*found.model) : kNoNumber}};
    for (const double horizon : found.horizons) {
      const auto it = by_horizon.find(horizon);
      row.cells.push_back(it == by_horizon.end() ? kNoNumber : estimate(it->second));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

HtmlTable PowerTable(const JsonObject& correction) {
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  HtmlTable table{
      .columns = {{"Power", kNumber, "Exponent of the weights: 1 trusts them, 0 has none"},
                  {"Value \xC2\xB1 standard error", kNumber},
                  {"ESS", kNumber, "Effective logged episodes"},
                  {"Choice"}}};
  const Value power = correction.Number("power");
  for (const JsonObject& candidate : correction.Objects("candidates")) {
    const bool chosen = power && candidate.Number("power") == power;
    std::string why = chosen ? "chosen" : candidate.Text("left_out");
    if (why.empty()) {
      why = candidate.Number("power") > power ? "noisier than the chosen one"
                                              : "its interval misses that of a stronger one";
    }
    table.rows.push_back(
        {.cells = {NumberText(candidate.Number("power")),
                   EstimateText(candidate.Number("value"), candidate.Number("stderr")),
                   NumberText(candidate.Number("ess"), 3), why},
         .emphasis = chosen ? HtmlEmphasis::kStrong : HtmlEmphasis::kNone});
  }
  return table;
}

}  // namespace

HtmlFragment CorrectionSection(const JsonObject& report) {
  HtmlFragment html;
  const auto correction = report.Object("doubly_robust");
  if (!correction) return html;
  html.Heading(2, "What does the log correct?");
  html.Paragraph(fmt::format(
      "dr_lfiw starts from the model's value, {}, and adds what {} logged episodes gave beyond "
      "what "
      "the model expected, step by step, weighted towards the states and actions of the evaluation "
      "policy: {}. How strongly the weights act is chosen from the log: of the powers that leave "
      "enough effective episodes, the last whose interval meets those of all stronger ones.",
      NumberText(correction->Number("model"), 4), CountText(correction->Number("episodes")),
      NumberText(correction->Number("value"), 4)));
  html.Table(PowerTable(*correction));
  for (const std::string& note : correction->Texts("notes")) html.Muted(note);
  return html;
}

HtmlFragment EstimatesSection(const JsonObject& report) {
  HtmlFragment html;
  html.Heading(2, "What do the estimators say?");
  const std::vector<JsonObject> rows = report.Objects("rows");
  if (rows.empty()) {
    html.Muted("This run holds no table of estimates.");
    return html;
  }
  html.Table(MainTable(report, rows));
  HtmlFragment details;
  details.Table(DetailTable(rows));
  html.Details("Parameters, parts of the standard error, and what the intervals cover", details);
  const PaperRows paper = FindPaperRows(rows);
  if (!paper.weighted.empty()) {
    html.Heading(3, "Model and weighted estimates side by side");
    html.Table(PaperTable(report, paper));
  }
  return html;
}

}  // namespace lfiw::experiments
