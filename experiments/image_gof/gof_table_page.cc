#include "experiments/image_gof/gof_table_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/run/csv_columns.h"
#include "core/run/text_table.h"
#include "experiments/image_gof/resampling_text.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

using Cells = std::vector<std::string>;

const Cells kTitles = {"model", "evaluation", "IS", "FID", "KID", "biased RBF", "samples"};
const Cells kBiasTitles = {"weights", "|bias|", "mean |bias|", "variance", "MSE", "draws"};
const Cells kDensityTitles = {
    "model", "bits per dimension", "resampled", "gain (nats an image)", "log Z", "images"};
const Cells kCheckTitles = {"model",           "real images",       "AUC",
                            "accuracy",        "calibration error", "mean square",
                            "real + generated"};

constexpr const char* kMetricsNote =
    "Means and standard errors over runs. Higher IS is better; lower FID and KID are. KID is the "
    "unbiased one; biased RBF is what the paper reports under that name. FID, IS and the biased "
    "statistic depend on the number of samples: compare rows with as many.";
constexpr const char* kBiasNote =
    "Of the mean features of T samples. |bias|: of the mean over features, as in the paper, whose "
    "biases may cancel; mean |bias| is free of that. Standard errors are over features.";

constexpr const char* kDensityNote =
    "Of the model, and of the model resampled by the weights: density p(x) w(x) / Z, w the mean "
    "weight of the classifiers, none of which saw these images. Z is not known: it is estimated by "
    "the mean weight of the generated samples, each by a classifier that did not see it. Its error "
    "is in the errors of the resampled model and of the gain. Lower bits per dimension are better.";
constexpr const char* kCheckNote =
    "The classifiers of real against generated images on rows that they did not see. AUC of 0.5: "
    "not told apart. Calibration error: of the probability in 10 bins, mean and mean square. Where "
    "the network saw real_train in its own training, images that it did not see are the fairer "
    "check.";

Cells RowCells(const TableRow& row) {
  Cells cells = {row.model, row.evaluation};
  for (const TableCell& cell : row.cells) {
    cells.push_back(EstimateText(cell.value, cell.standard_error));
  }
  cells.push_back(fmt::format("{} x {}", row.runs, CountText(static_cast<double>(row.size))));
  return cells;
}

Cells BiasCells(const BiasVariance& entry) {
  std::string weights = entry.params.empty() ? entry.weights : entry.weights + ", " + entry.params;
  std::ranges::replace(weights, '_', ' ');
  if (!entry.reason.empty()) return {weights, kNoNumber, kNoNumber, kNoNumber, kNoNumber, ""};
  return {weights,
          EstimateText(entry.abs_mean_bias, entry.bias_error),
          NumberText(entry.mean_abs_bias),
          EstimateText(entry.variance, entry.variance_error),
          EstimateText(entry.mse, entry.mse_error),
          fmt::format("{}", entry.draws)};
}

std::string BiasTitle(const BiasVarianceTable& table) {
  return fmt::format("Bias and variance of {}, T = {}{}", table.model,
                     CountText(static_cast<double>(table.size)),
                     table.disjoint ? "" : " (draws overlap: too few samples for disjoint ones)");
}

Cells DensityCells(const DensityRow& row) {
  return {row.model,
          EstimateText(row.bits, row.bits_error),
          EstimateText(row.resampled_bits, row.resampled_error),
          EstimateText(row.gain, row.gain_error),
          EstimateText(row.partition.value, row.partition.standard_error),
          CountText(static_cast<double>(row.images))};
}

Cells CheckCells(const ClassifierCheck& check) {
  const Calibration& c = check.calibration;
  return {check.model,
          check.images,
          NumberText(c.auc, 3),
          NumberText(c.accuracy, 3),
          NumberText(c.ece, 2),
          NumberText(c.squared_error, 2),
          fmt::format("{} + {}", CountText(static_cast<double>(check.n)),
                      CountText(static_cast<double>(check.m)))};
}

std::string EvidenceLine(const WeightEvidence& e) {
  return fmt::format("AUC {}, calibration error {}, effective samples {} of {}",
                     NumberText(e.calibration.auc, 3), NumberText(e.calibration.ece, 2),
                     NumberText(e.ess), CountText(static_cast<double>(e.m)));
}

HtmlTable TableOf(const std::string& caption, const Cells& titles, std::size_t text_columns,
                  const std::vector<Cells>& rows) {
  HtmlTable table{.caption = caption};
  for (std::size_t i = 0; i < titles.size(); ++i) {
    table.columns.push_back(
        {.title = titles[i], .align = i < text_columns ? HtmlAlign::kText : HtmlAlign::kNumber});
  }
  for (const Cells& row : rows) table.rows.push_back({{row.begin(), row.end()}});
  return table;
}

template <class Row>
std::vector<Cells> AllCells(const std::vector<Row>& rows, Cells (*cells)(const Row&)) {
  std::vector<Cells> all;
  for (const Row& row : rows) all.push_back(cells(row));
  return all;
}

// A line of results.csv: one metric of one row.
struct MetricLine {
  const TableRow& row;
  const char* metric;
  const TableCell& cell;
};

// A line of bias_variance.csv: one weighting of one table.
struct BiasLine {
  const BiasVarianceTable& table;
  const BiasVariance& entry;
};

// Reads a number of an entry; nothing where a reason says why there is none.
auto OfEntry(double BiasVariance::*member) {
  return [member](const BiasLine& line) {
    return line.entry.reason.empty() ? std::optional(line.entry.*member) : std::nullopt;
  };
}

void AddDensities(const GofTable& table, HtmlFragment& body) {
  if (table.densities.empty()) return;
  body.Heading(2, "Density of test images");
  body.Table(TableOf("", kDensityTitles, 1, AllCells(table.densities, DensityCells)));
  body.Muted(kDensityNote);
}

void AddChecks(const GofTable& table, HtmlFragment& body) {
  body.Heading(2, "Classifiers");
  body.Table(TableOf("", kCheckTitles, 2, AllCells(table.checks, CheckCells)));
  body.Muted(kCheckNote);
  if (table.extractor) body.Paragraph(ExtractorLine(*table.extractor));
}

// The figures that there are, side by side.
void AddFigures(const GeneratorDrawings& drawings, const std::string& id, HtmlFragment& body) {
  std::vector<HtmlFragment> figures;
  const auto add = [&](const char* name, const std::string& svg, const char* caption) {
    if (!svg.empty()) figures.emplace_back().Figure(id + name, svg, caption);
  };
  add("samples", drawings.samples, "Samples drawn at random.");
  add("learning", drawings.learning, "Training: what the model is fitted to, against steps.");
  add("calibration", drawings.calibration,
      "Cross-fitted rows in 10 bins of their probability of being real. On the diagonal the odds "
      "are right on average.");
  add("check", drawings.check_calibration, "The same on the check images.");
  if (!figures.empty()) body.Columns(figures);
}

constexpr const char* kDoubtsTitle = "The rows with weights are not to be relied on:";

std::vector<std::string> Doubts(const GeneratorEvidence& one) {
  return WeightDoubts(one.evidence, GofVerdictOptions());
}

// `id` starts the names of its figures.
void AddGenerator(const GeneratorEvidence& one, const std::string& id, HtmlFragment& body) {
  body.Heading(2, one.model);
  if (!one.training.empty()) body.Paragraph(one.training);
  body.Paragraph("Weights: " + EvidenceLine(one.evidence));
  if (const std::vector<std::string> doubts = Doubts(one); !doubts.empty()) {
    body.Paragraph(kDoubtsTitle);
    body.List(doubts);
  }
  body.List(ConditionLines(one.evidence.conditions, one.evidence.partition));
  if (!one.notes.empty()) body.List(one.notes);
  AddFigures(one.drawings, id, body);
}

}  // namespace

std::string TableText(const GofTable& table) {
  std::string text = FormatTextTable(kTitles, AllCells(table.rows, RowCells));
  for (const DensityRow& row : table.densities) {
    text += fmt::format("\n{}\n", fmt::join(DensityLines(row), "\n  "));
  }
  text += fmt::format("\n{}", FormatTextTable(kCheckTitles, AllCells(table.checks, CheckCells)));
  if (table.extractor) text += fmt::format("{}\n", ExtractorLine(*table.extractor));
  for (const BiasVarianceTable& one : table.bias_variance) {
    text += fmt::format("\n{}\n{}", BiasTitle(one),
                        FormatTextTable(kBiasTitles, AllCells(one.entries, BiasCells)));
  }
  for (const GeneratorEvidence& one : table.evidence) {
    text += fmt::format("\n{}: {}\n", one.model, EvidenceLine(one.evidence));
    if (!one.training.empty()) text += fmt::format("  {}\n", one.training);
    if (const std::vector<std::string> doubts = Doubts(one); !doubts.empty()) {
      text += fmt::format("  {}\n    {}\n", kDoubtsTitle, fmt::join(doubts, "\n    "));
    }
    for (const std::string& line :
         ConditionLines(one.evidence.conditions, one.evidence.partition)) {
      text += fmt::format("  {}\n", line);
    }
    for (const std::string& note : one.notes) text += fmt::format("  note: {}\n", note);
  }
  return text;
}

std::string TableCsv(const GofTable& table) {
  static const CsvColumns<MetricLine> columns = {
      {"model", "", "generator", InQuotes([](const MetricLine& m) { return m.row.model; })},
      {"evaluation", "", "how its samples are weighted",
       InQuotes([](const MetricLine& m) { return m.row.evaluation; })},
      {"metric", "", "name of the metric", &MetricLine::metric},
      {"value", "", "mean over runs", [](const MetricLine& m) { return m.cell.value; }},
      {"stderr", "", "standard error of value over runs",
       [](const MetricLine& m) { return m.cell.standard_error; }},
      {"runs", "", "number of runs", [](const MetricLine& m) { return m.row.runs; }},
      {"samples", "images", "generated samples of a run",
       [](const MetricLine& m) { return m.row.size; }},
      {"reason", "", "why there is no value",
       InQuotes([](const MetricLine& m) { return m.cell.reason; })}};
  std::vector<MetricLine> lines;
  for (const TableRow& row : table.rows) {
    for (std::size_t k = 0; k < row.cells.size(); ++k) {
      lines.push_back({row, kTableMetrics[k], row.cells[k]});
    }
  }
  return columns.Format(lines);
}

std::string BiasVarianceCsv(const GofTable& table) {
  static const CsvColumns<BiasLine> columns = {
      {"model", "", "generator", InQuotes([](const BiasLine& b) { return b.table.model; })},
      {"T", "images", "samples of a draw", [](const BiasLine& b) { return b.table.size; }},
      {"weights", "", "how samples are weighted",
       [](const BiasLine& b) { return b.entry.weights; }},
      {"params", "", "parameters of the weights", [](const BiasLine& b) { return b.entry.params; }},
      {"draws", "", "number of draws", [](const BiasLine& b) { return b.entry.draws; }},
      {"disjoint", "", "1: draws share no sample",
       [](const BiasLine& b) { return b.table.disjoint; }},
      {"abs_mean_bias", "features", "|mean over features of the bias|, as in the paper",
       OfEntry(&BiasVariance::abs_mean_bias)},
      {"bias_stderr", "features", "standard error of the mean bias over features",
       OfEntry(&BiasVariance::bias_error)},
      {"mean_abs_bias", "features", "mean over features of |bias|",
       OfEntry(&BiasVariance::mean_abs_bias)},
      {"variance", "features^2", "mean over features of the variance over draws",
       OfEntry(&BiasVariance::variance)},
      {"variance_stderr", "features^2", "standard error of variance over features",
       OfEntry(&BiasVariance::variance_error)},
      {"mse", "features^2", "mean over features of bias^2 + variance", OfEntry(&BiasVariance::mse)},
      {"mse_stderr", "features^2", "standard error of mse over features",
       OfEntry(&BiasVariance::mse_error)},
      {"reason", "", "why there are no numbers",
       InQuotes([](const BiasLine& b) { return b.entry.reason; })}};
  std::vector<BiasLine> lines;
  for (const BiasVarianceTable& one : table.bias_variance) {
    for (const BiasVariance& entry : one.entries) lines.push_back({one, entry});
  }
  return columns.Format(lines);
}

std::string TablePage(const GofTable& table, const std::string& command) {
  HtmlFragment body;
  body.Heading(1, "Goodness of fit over several runs");
  body.Table(TableOf("Goodness of fit", kTitles, 2, AllCells(table.rows, RowCells)));
  body.Muted(kMetricsNote);
  for (const BiasVarianceTable& one : table.bias_variance) {
    body.Heading(2, BiasTitle(one));
    body.Table(TableOf("", kBiasTitles, 1, AllCells(one.entries, BiasCells)));
  }
  if (!table.bias_variance.empty()) body.Muted(kBiasNote);
  AddDensities(table, body);
  AddChecks(table, body);
  for (std::size_t i = 0; i < table.evidence.size(); ++i) {
    AddGenerator(table.evidence[i], fmt::format("generator{}", i + 1), body);
  }
  body.Code(command);
  return HtmlPage("Goodness of fit over several runs", body);
}

}  // namespace lfiw::experiments
