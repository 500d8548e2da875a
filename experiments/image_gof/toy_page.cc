#include "experiments/image_gof/toy_page.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/run/csv_text.h"
#include "core/run/text_table.h"
#include "experiments/image_gof/resampling_text.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

double Probability(double logit) { return 1.0 / (1.0 + std::exp(-logit)); }

std::vector<double> Probabilities(const std::vector<double>& logits) {
  std::vector<double> values;
  for (const double logit : logits) values.push_back(Probability(logit));
  return values;
}

// Densities and the optimal probability at every point of the grid.
struct Truth {
  Truth(const ToyGaussianConfig& config, const ToyCurves& curves) : x(GridPoints(config.grid)) {
    for (const double point : x) {
      const double log_p = MixtureLogDensity(config.mixture, point);
      const double log_q = NormalLogDensity(curves.model_mean, curves.model_deviation, point);
      data.push_back(std::exp(log_p));
      model.push_back(std::exp(log_q));
      optimal.push_back(Probability(log_p - log_q));
    }
  }
  std::vector<double> x, data, model, optimal;
};

constexpr std::array kTitles = {"n",        "gap (rms)",    "interval width",      "covered",
                                "KL model", "KL resampled", "margin of the check", "ESS / n"};

std::vector<std::string> Cells(const ToyPanel& panel) {
  const ToySummary& s = panel.summary;
  const ImprovementCheck& check = s.conditions.divergence;
  return {CountText(static_cast<double>(panel.curves.n)),
          NumberText(s.rms_gap, 3),
          NumberText(s.mean_width, 3),
          fmt::format("{:.0f} %", 100.0 * s.coverage),
          NumberText(s.model_divergence, 3),
          NumberText(s.resampled_divergence, 3),
          check.reason.empty() ? EstimateText(check.margin, check.standard_error) : kNoNumber,
          NumberText(s.ess / static_cast<double>(panel.curves.n), 3)};
}

constexpr const char* kExplanation =
    "gap: of the estimated class probability from the optimal one; covered: share of points where "
    "the interval holds the optimal one; both under an equal mixture of data and model. KL: "
    "divergence of the data from the model and from the importance resampled model, in nats, by "
    "integration. The check estimates their difference from held-out points alone.";

}  // namespace

Plot ToySetupPlot(const ToyGaussianConfig& config, const ToyCurves& curves) {
  const Truth truth(config, curves);
  return {.title = "Set-up",
          .x_label = "x",
          .y_label = "density",
          .series = {{.label = "model (Gaussian)", .x = truth.x, .y = truth.model},
                     {.label = "data (mixture)", .x = truth.x, .y = truth.data}}};
}

Plot ToyCurvePlot(const ToyGaussianConfig& config, const ToyCurves& curves) {
  const Truth truth(config, curves);
  return {.title = fmt::format("n = {}", curves.n),
          .x_label = "x",
          .y_label = "probability of being real",
          .series = {{.label = fmt::format("classifier, {:.0f} % interval", 100.0 * config.level),
                      .x = truth.x,
                      .y = Probabilities(curves.estimate),
                      .low = Probabilities(curves.low),
                      .high = Probabilities(curves.high)},
                     {.label = "optimal", .x = truth.x, .y = truth.optimal}}};
}

std::string ToyText(std::span<const ToyPanel> panels) {
  std::vector<std::vector<std::string>> rows;
  for (const ToyPanel& panel : panels) rows.push_back(Cells(panel));
  std::string text = FormatTextTable({kTitles.begin(), kTitles.end()}, rows);
  for (const ToyPanel& panel : panels) {
    text += fmt::format("n = {}:\n", panel.curves.n);
    for (const std::string& line :
         ConditionLines(panel.summary.conditions, panel.summary.partition)) {
      text += fmt::format("  {}\n", line);
    }
  }
  return text;
}

std::string ToyCsv(std::span<const ToyPanel> panels) {
  std::string csv =
      "n,model_mean,model_deviation,rms_gap,interval_width,coverage,model_divergence,"
      "resampled_divergence,check_margin,check_stderr,mean_weight_margin,mean_log_weight_margin,"
      "log_partition,log_partition_stderr,ess,reason\n";
  for (const auto& [curves, s] : panels) {
    const auto margin = [](const ImprovementCheck& check) {
      return check.reason.empty() ? fmt::format("{}", check.margin) : "";
    };
    csv += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", curves.n, curves.model_mean,
        curves.model_deviation, s.rms_gap, s.mean_width, s.coverage, s.model_divergence,
        s.resampled_divergence, margin(s.conditions.divergence),
        NumberCsv(s.conditions.divergence.standard_error), margin(s.conditions.mean_weight),
        margin(s.conditions.mean_log_weight), s.partition.value,
        NumberCsv(s.partition.standard_error), s.ess, s.conditions.divergence.reason);
  }
  return csv;
}

std::string ToyCurvesCsv(const ToyGaussianConfig& config, std::span<const ToyPanel> panels) {
  std::string csv = "n,x,data_density,model_density,optimal,estimate,low,high\n";
  for (const ToyPanel& panel : panels) {
    const Truth truth(config, panel.curves);
    for (std::size_t i = 0; i < truth.x.size(); ++i) {
      csv += fmt::format("{},{},{},{},{},{},{},{}\n", panel.curves.n, truth.x[i], truth.data[i],
                         truth.model[i], truth.optimal[i], Probability(panel.curves.estimate[i]),
                         Probability(panel.curves.low[i]), Probability(panel.curves.high[i]));
    }
  }
  return csv;
}

std::string ToyPage(const ToyGaussianConfig& config, std::span<const ToyPanel> panels,
                    const std::vector<std::string>& svgs, const std::string& command) {
  HtmlFragment body;
  body.Heading(1, "Importance weights from a classifier, in one dimension");
  body.Paragraph(fmt::format(
      "A Gaussian is fitted to n points of a mixture of two. A classifier of the points against as "
      "many of the Gaussian gives the probability of being real, whose odds are the importance "
      "weights. The band holds the middle {:.0f} % of {} classifiers trained on bootstraps: the "
      "data drawn with replacement, fresh points of the Gaussian.",
      100.0 * config.level, config.bootstraps));
  std::vector<HtmlFragment> figures;
  for (std::size_t i = 0; i < svgs.size(); ++i) {
    if (svgs[i].empty()) continue;
    figures.emplace_back().Figure(
        fmt::format("panel{}", i), svgs[i],
        i == 0 ? "The data and the Gaussian with their moments."
               : "Estimated class probability, and the optimal one between data and model.");
  }
  body.Columns(figures);
  HtmlTable table{.caption = "How close the classifier comes"};
  for (const char* title : kTitles) {
    table.columns.push_back({.title = title, .align = HtmlAlign::kNumber});
  }
  for (const ToyPanel& panel : panels) {
    HtmlRow& row = table.rows.emplace_back();
    for (std::string& cell : Cells(panel)) row.cells.emplace_back(std::move(cell));
  }
  body.Table(table);
  body.Muted(kExplanation);
  body.Heading(2, "Does resampling improve the model?");
  for (const ToyPanel& panel : panels) {
    body.Heading(3, fmt::format("n = {}", panel.curves.n));
    body.List(ConditionLines(panel.summary.conditions, panel.summary.partition));
  }
  body.Code(command);
  return HtmlPage("Importance weights in one dimension", body);
}

}  // namespace lfiw::experiments
