#include "experiments/image_gof/gof_table_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text_table.h"
#include "experiments/html_page.h"
#include "experiments/image_gof/resampling_text.h"
#include "experiments/number_text.h"

namespace lfiw {
namespace {

using Cells = std::vector<std::string>;

const Cells kTitles = {"model", "evaluation", "IS", "FID", "KID", "biased RBF", "samples"};
const Cells kBiasTitles = {"weights", "|bias|", "mean |bias|", "variance", "MSE", "draws"};

constexpr const char* kMetricsNote =
    "Means and standard errors over runs. Higher IS is better; lower FID and KID are. KID is the "
    "unbiased one; biased RBF is what the paper reports under that name. FID, IS and the biased "
    "statistic depend on the number of samples: compare rows with as many.";
constexpr const char* kBiasNote =
    "Of the mean features of T samples. |bias|: of the mean over features, as in the paper, whose "
    "biases may cancel; mean |bias| is free of that. Standard errors are over features.";

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

std::vector<Cells> AllRows(const GofTable& table) {
  std::vector<Cells> rows;
  for (const TableRow& row : table.rows) rows.push_back(RowCells(row));
  return rows;
}

std::vector<Cells> AllEntries(const BiasVarianceTable& table) {
  std::vector<Cells> rows;
  for (const BiasVariance& entry : table.entries) rows.push_back(BiasCells(entry));
  return rows;
}

std::string Number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string TableText(const GofTable& table) {
  std::string text = FormatTextTable(kTitles, AllRows(table));
  for (const BiasVarianceTable& one : table.bias_variance) {
    text += fmt::format("\n{}\n{}", BiasTitle(one), FormatTextTable(kBiasTitles, AllEntries(one)));
  }
  for (const auto& [model, evidence, notes] : table.evidence) {
    text += fmt::format("\n{}: {}\n", model, EvidenceLine(evidence));
    for (const std::string& line : ConditionLines(evidence.conditions, evidence.partition)) {
      text += fmt::format("  {}\n", line);
    }
    for (const std::string& note : notes) text += fmt::format("  note: {}\n", note);
  }
  return text;
}

std::string TableCsv(const GofTable& table) {
  std::string csv = "model,evaluation,metric,value,stderr,runs,samples,reason\n";
  for (const TableRow& row : table.rows) {
    for (std::size_t k = 0; k < row.cells.size(); ++k) {
      const TableCell& cell = row.cells[k];
      csv += fmt::format("\"{}\",\"{}\",{},{},{},{},{},\"{}\"\n", row.model, row.evaluation,
                         kTableMetrics[k], Number(cell.value), Number(cell.standard_error),
                         row.runs, row.size, cell.reason);
    }
  }
  return csv;
}

std::string BiasVarianceCsv(const GofTable& table) {
  std::string csv =
      "model,T,weights,params,draws,disjoint,abs_mean_bias,bias_stderr,mean_abs_bias,variance,"
      "variance_stderr,mse,mse_stderr,reason\n";
  for (const BiasVarianceTable& one : table.bias_variance) {
    for (const BiasVariance& e : one.entries) {
      const std::string numbers =
          e.reason.empty()
              ? fmt::format("{},{},{},{},{},{},{}", e.abs_mean_bias, e.bias_error, e.mean_abs_bias,
                            e.variance, e.variance_error, e.mse, e.mse_error)
              : ",,,,,,";
      csv += fmt::format("\"{}\",{},{},{},{},{:d},{},\"{}\"\n", one.model, one.size, e.weights,
                         e.params, e.draws, one.disjoint, numbers, e.reason);
    }
  }
  return csv;
}

std::string TablePage(const GofTable& table, const std::string& command) {
  HtmlFragment body;
  body.Heading(1, "Goodness of fit over several runs");
  body.Table(TableOf("Goodness of fit", kTitles, 2, AllRows(table)));
  body.Muted(kMetricsNote);
  for (const BiasVarianceTable& one : table.bias_variance) {
    body.Heading(2, BiasTitle(one));
    body.Table(TableOf("", kBiasTitles, 1, AllEntries(one)));
  }
  if (!table.bias_variance.empty()) body.Muted(kBiasNote);
  for (const auto& [model, evidence, notes] : table.evidence) {
    body.Heading(2, "Weights of " + model);
    body.Paragraph(EvidenceLine(evidence));
    body.List(ConditionLines(evidence.conditions, evidence.partition));
    if (!notes.empty()) body.List(notes);
  }
  body.Code(command);
  return HtmlPage("Goodness of fit over several runs", body);
}

}  // namespace lfiw
