#include "experiments/image_gof/gof_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/run/text_table.h"
#include "experiments/image_gof/resampling_text.h"
#include "experiments/image_gof/sample_weights.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

struct MetricColumn {
  const char* name;
  const char* title;
  const char* definition;
};
constexpr std::array kMetrics = {
    MetricColumn{kInceptionScore, "IS", "Inception Score of all samples at once; higher is better"},
    MetricColumn{kFid, "FID",
                 "Frechet distance of Gaussians with the moments of the features; lower is better"},
    MetricColumn{kKid, "KID",
                 "unbiased squared discrepancy with the kernel (x'y / d + 1)^3, mean and standard "
                 "error over blocks; lower is better, 0 for equal distributions"},
    MetricColumn{kBiasedRbf, "biased RBF",
                 "the paper's KID: root of the biased squared discrepancy with a Gaussian kernel; "
                 "above 0 for equal distributions, the more so the fewer samples there are"}};

std::string WeightsTitle(const GofRow& row) {
  std::string title = row.weights == "none" ? "no weights" : "LFIW " + row.weights;
  if (row.weights == "reference") title = "reference (halves of the real samples)";
  std::ranges::replace(title, '_', ' ');
  // smoothed weights are flattened only where noise alone was not enough
  const bool flattened = row.alpha && (row.weights == kTemperedWeights || *row.alpha < 1.0);
  if (flattened) return fmt::format("{}, {}, alpha={:.3g}", title, row.params, *row.alpha);
  return row.params.empty() ? title : title + ", " + row.params;
}

// One line of the table: a weighting with its cell of every metric.
struct TableLine {
  const GofRow* first;
  std::vector<std::string> cells;
};

std::vector<TableLine> TableLines(std::span<const GofRow> rows) {
  std::vector<TableLine> lines;
  for (const GofRow& row : rows) {
    const bool known = std::ranges::any_of(lines, [&](const TableLine& line) {
      return line.first->weights == row.weights && line.first->params == row.params;
    });
    if (known) continue;
    TableLine line{&row, {WeightsTitle(row)}};
    for (const MetricColumn& metric : kMetrics) {
      const GofRow* cell = FindRow(rows, metric.name, row.weights, row.params);
      line.cells.push_back(cell == nullptr ? "" : EstimateText(cell->value, cell->standard_error));
    }
    line.cells.push_back(row.ess ? NumberText(row.ess) : "");
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> Titles() {
  std::vector<std::string> titles = {"weights"};
  for (const MetricColumn& metric : kMetrics) titles.emplace_back(metric.title);
  titles.emplace_back("ESS");
  return titles;
}

std::string Sentence(Resemblance resemblance) {
  switch (resemblance) {
    case Resemblance::kSame:
      return "The generated samples pass for real ones in these features.";
    case Resemblance::kClose:
      return "The generated samples differ from the real ones, but are hard to tell apart.";
    case Resemblance::kDifferent:
      break;
  }
  return "The generated samples differ clearly from real ones.";
}

HtmlTone ToneOf(Resemblance resemblance) {
  switch (resemblance) {
    case Resemblance::kSame:
      return HtmlTone::kGood;
    case Resemblance::kClose:
      return HtmlTone::kWarning;
    case Resemblance::kDifferent:
      break;
  }
  return HtmlTone::kBad;
}

// Which of the weighted rows to read where the plain weights cannot be relied on.
std::string ReadInstead(std::span<const GofRow> rows) {
  const auto has = [&](const char* weights) {
    return std::ranges::any_of(rows, [&](const GofRow& row) { return row.weights == weights; });
  };
  if (has(kSmoothedWeights)) {
    return "of the weighted rows read the smoothed one, whose classifiers saw noise on both sets, "
           "so that traces that every sample has count for less";
  }
  if (has(kTemperedWeights)) {
    return "of the weighted rows read the tempered ones, which keep the order of the weights and "
           "let many samples count";
  }
  return "read the row without weights";
}

// What the weights are good for.
std::string WeightsSentence(const GofResult& result) {
  const GofJudgement& judgement = result.judgement;
  if (judgement.resemblance == Resemblance::kSame) {
    return "There is nothing to correct: differences between the weighted rows and the unweighted "
           "one are the noise of the classifier.";
  }
  if (judgement.doubts.empty()) {
    return "The weights pass their checks: read the self-normalized row as what the model would "
           "score after resampling by the weights.";
  }
  return fmt::format(
      "The weights are no density ratios that could be relied on: {}. Against the full weights "
      "speaks:",
      ReadInstead(result.rows));
}

// Sizes, extractor and what else a reader must know.
std::vector<std::string> Notes(const GofResult& result) {
  const SamplePair& samples = result.samples;
  const std::int64_t d = samples.real.features.features.cols();
  std::vector<std::string> notes = samples.notes;
  if (result.evidence.ess < static_cast<double>(d)) {
    notes.push_back(fmt::format(
        "The weights are worth fewer samples ({}) than there are features ({}): the weighted FID "
        "is inflated; hold it against the unweighted FID at N = ESS.",
        NumberText(result.evidence.ess), d));
  }
  const std::int64_t reference = samples.real.size() - samples.real.size() / 2;
  notes.push_back(fmt::format(
      "FID and the biased RBF statistic fall with the number of samples; the reference row has {} "
      "against {}.",
      CountText(static_cast<double>(samples.real.size() - reference)),
      CountText(static_cast<double>(reference))));
  return notes;
}

std::string SamplesText(const SampleSet& set) {
  return fmt::format("{}: {} samples", fmt::join(set.paths, ", "),
                     CountText(static_cast<double>(set.size())));
}

json OptionalJson(const std::optional<double>& value) { return value ? json(*value) : json(); }

json CalibrationJson(const Calibration& calibration) {
  json bins = json::array();
  for (const ReliabilityBin& bin : calibration.bins) {
    bins.push_back({{"count", bin.count},
                    {"mean_probability", bin.mean_probability},
                    {"positive_fraction", bin.positive_fraction}});
  }
  return {{"auc", calibration.auc},     {"accuracy", calibration.accuracy},
          {"ece", calibration.ece},     {"squared_error", calibration.squared_error},
          {"brier", calibration.brier}, {"nll", calibration.nll},
          {"bins", std::move(bins)}};
}

// The row of a metric that a reader wants first: under smoothed weights, else under tempered ones,
// else under self-normalized ones.
const GofRow* FirstWeighted(std::span<const GofRow> rows, const std::string& metric) {
  for (const char* weights : {kSmoothedWeights, kTemperedWeights}) {
    const auto found = std::ranges::find_if(
        rows, [&](const GofRow& row) { return row.metric == metric && row.weights == weights; });
    if (found != rows.end()) return &*found;
  }
  return FindRow(rows, metric, "self_normalized");
}

// "with smoothed weights", of such a row.
std::string WithWeights(const GofRow* row) {
  std::string kind = row == nullptr ? "self_normalized" : row->weights;
  std::ranges::replace(kind, '_', '-');
  return fmt::format("with {} weights", kind);
}

// The value of a metric without and with weights.
HtmlTile MetricTile(std::span<const GofRow> rows, const char* metric, const char* label) {
  const GofRow* plain = FindRow(rows, metric, "none");
  const GofRow* weighted = FirstWeighted(rows, metric);
  const auto text = [](const GofRow* row) {
    return row == nullptr ? std::string(kNoNumber) : NumberText(row->value);
  };
  return {label, text(plain), fmt::format("{} {}", text(weighted), WithWeights(weighted))};
}

// How many samples the plain weights are worth, and those that a reader wants first.
HtmlTile SamplesTile(const GofResult& result) {
  const GofRow* weighted = FirstWeighted(result.rows, kFid);
  std::string rest = fmt::format("of {}", CountText(static_cast<double>(result.evidence.m)));
  if (weighted != nullptr && weighted->ess) {
    rest += fmt::format("; {} {}", NumberText(weighted->ess), WithWeights(weighted));
  }
  return {"effective samples", NumberText(result.evidence.ess), rest};
}

void AddMetrics(const GofResult& result, HtmlFragment& body) {
  HtmlTable table{.caption = "Metrics with and without importance weights"};
  table.columns.push_back({.title = "weights"});
  for (const MetricColumn& metric : kMetrics) {
    table.columns.push_back({metric.title, HtmlAlign::kNumber, metric.definition});
  }
  table.columns.push_back({"ESS", HtmlAlign::kNumber, "effective number of samples"});
  std::vector<std::string> reasons;
  for (const TableLine& line : TableLines(result.rows)) {
    table.rows.push_back({{line.cells.begin(), line.cells.end()}});
  }
  for (const GofRow& row : result.rows) {
    if (row.reason.empty()) continue;
    const std::string reason = fmt::format("{}, {}: {}", row.metric, WeightsTitle(row), row.reason);
    reasons.push_back(reason);
  }
  body.Heading(2, "Metrics");
  body.Table(table);
  if (!reasons.empty()) {
    body.Muted("Cells without a number:");
    body.List(reasons);
  }
  body.List(Notes(result));
}

void AddWeights(const GofResult& result, const GofDrawings& drawings, HtmlFragment& body) {
  const WeightEvidence& e = result.evidence;
  body.Heading(2, "Weights");
  body.Paragraph(WeightsSentence(result));
  if (!result.judgement.doubts.empty()) body.List(result.judgement.doubts);
  body.Definitions(
      {{"effective samples",
        fmt::format("{} of {}", NumberText(e.ess), CountText(static_cast<double>(e.m)))},
       {"largest weight", fmt::format("{} of the sum", NumberText(e.max_weight, 3))},
       {"k-hat of the tail", fmt::format("{} (reliable below {})", NumberText(e.khat, 2),
                                         NumberText(e.khat_threshold, 2))},
       {"calibration error",
        fmt::format("{} (mean), {} (mean square)", NumberText(e.calibration.ece, 2),
                    NumberText(e.calibration.squared_error, 2))},
       {"AUC, accuracy", fmt::format("{}, {}", NumberText(e.calibration.auc, 3),
                                     NumberText(e.calibration.accuracy, 3))}});
  body.Heading(3, "Does resampling improve the model?");
  body.List(ConditionLines(e.conditions, e.partition));
  std::vector<HtmlFragment> figures;
  if (!drawings.calibration.empty()) {
    figures.emplace_back().Figure("calibration", drawings.calibration,
                                  "Held-out samples in 10 bins of their probability of being real. "
                                  "On the diagonal the odds are right on average.");
  }
  if (!drawings.histogram.empty()) {
    figures.emplace_back().Figure("weights", drawings.histogram,
                                  "Weights of held-out samples. Equal sets have all weights at 1.");
  }
  body.Columns(figures);
  if (!drawings.grid.empty()) {
    body.Figure("ranked", drawings.grid,
                "Generated samples by weight: those of largest weight from the top left on, below "
                "the gap those of smallest weight, the smallest last.");
  }
}

}  // namespace

Plot CalibrationPlot(const Calibration& calibration) {
  Plot plot{.title = "Calibration of the classifier",
            .x_label = "probability of being real",
            .y_label = "share of real samples"};
  plot.series.push_back(
      {.label = "calibrated", .x = {0.0, 1.0}, .y = {0.0, 1.0}, .style = PlotStyle::kGuide});
  PlotSeries bins{.label = "held-out samples, with standard errors", .style = PlotStyle::kPoints};
  for (const ReliabilityBin& bin : calibration.bins) {
    if (bin.count == 0) continue;
    const double p = bin.positive_fraction;
    const double error = std::sqrt(p * (1.0 - p) / static_cast<double>(bin.count));
    bins.x.push_back(bin.mean_probability);
    bins.y.push_back(p);
    bins.low.push_back(p - error);
    bins.high.push_back(p + error);
  }
  plot.series.push_back(std::move(bins));
  return plot;
}

Plot WeightPlot(const CrossFit& weights) {
  constexpr int kBins = 40;
  constexpr double kLow = -3.0,
                   kWidth = 0.125;  // of log10 w; what is beyond counts in the end bins
  Plot plot{.title = "Held-out weights", .x_label = "log10 weight", .y_label = "share of samples"};
  const auto add = [&plot](const std::string& label, const std::vector<double>& logs) {
    PlotSeries series{.label = label, .style = PlotStyle::kSteps};
    for (int bin = 0; bin < kBins; ++bin) series.x.push_back(kLow + kWidth * bin);
    series.y.assign(kBins, 0.0);
    for (const double value : logs) {
      const double place = (value / std::log(10.0) - kLow) / kWidth;
      const auto bin = static_cast<std::size_t>(std::clamp(place, 0.0, kBins - 1.0));
      series.y[bin] += 1.0 / static_cast<double>(logs.size());
    }
    plot.series.push_back(std::move(series));
  };
  add("real", weights.real);
  add("generated", weights.generated);
  return plot;
}

std::string GofText(const GofResult& result) {
  std::vector<std::vector<std::string>> rows;
  for (const TableLine& line : TableLines(result.rows)) rows.push_back(line.cells);
  std::string text = FormatTextTable(Titles(), rows);
  text += fmt::format("verdict: {}. {}\n", EnumName(result.judgement.resemblance),
                      Sentence(result.judgement.resemblance));
  for (const std::string& reason : result.judgement.reasons) text += fmt::format("  {}\n", reason);
  text += fmt::format("weights: {}\n", WeightsSentence(result));
  for (const std::string& doubt : result.judgement.doubts) text += fmt::format("  {}\n", doubt);
  for (const std::string& line :
       ConditionLines(result.evidence.conditions, result.evidence.partition)) {
    text += fmt::format("  {}\n", line);
  }
  for (const std::string& note : Notes(result)) text += fmt::format("note: {}\n", note);
  return text;
}

json GofJson(const GofResult& result) {
  const WeightEvidence& e = result.evidence;
  json definitions;
  for (const MetricColumn& metric : kMetrics) definitions[metric.name] = metric.definition;
  return {{"schema", 1},
          {"definitions", std::move(definitions)},
          {"extractor", result.samples.extractor},
          {"features", result.samples.real.features.features.cols()},
          {"real", {{"files", result.samples.real.paths}, {"n", e.n}}},
          {"generated", {{"files", result.samples.generated.paths}, {"n", e.m}}},
          {"rows", RowsJson(result.rows)},
          {"classifier", CalibrationJson(e.calibration)},
          {"weights",
           {{"ess", e.ess},
            {"max_weight", e.max_weight},
            {"khat", OptionalJson(e.khat)},
            {"khat_threshold", e.khat_threshold},
            {"auc_z", e.auc_z},
            {"conditions", ConditionsJson(e.conditions, e.partition)}}},
          {"verdict",
           {{"resemblance", EnumName(result.judgement.resemblance)},
            {"reasons", result.judgement.reasons},
            {"doubts", result.judgement.doubts}}},
          {"notes", Notes(result)}};
}

std::string GofPage(const GofResult& result, const GofDrawings& drawings,
                    const std::string& command) {
  HtmlFragment body;
  body.Heading(1, "Goodness of fit of generated images");
  body.Muted(fmt::format("real {}; generated {}. Features: {}.", SamplesText(result.samples.real),
                         SamplesText(result.samples.generated), result.samples.extractor));
  body.Verdict(ToneOf(result.judgement.resemblance),
               std::string(EnumName(result.judgement.resemblance)),
               Sentence(result.judgement.resemblance), result.judgement.reasons);
  body.Tiles({MetricTile(result.rows, kFid, "FID"), MetricTile(result.rows, kKid, "KID"),
              MetricTile(result.rows, kInceptionScore, "Inception Score"), SamplesTile(result)});
  AddMetrics(result, body);
  AddWeights(result, drawings, body);
  body.Heading(2, "How to run it again");
  body.Code(command);
  return HtmlPage("Goodness of fit of generated images", body);
}

}  // namespace lfiw::experiments
