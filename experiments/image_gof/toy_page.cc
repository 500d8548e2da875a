#include "experiments/image_gof/toy_page.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/run/csv_columns.h"
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

auto OfSummary(double ToySummary::*member) {
  return [member](const ToyPanel& panel) { return panel.summary.*member; };
}

std::optional<double> MarginOf(const ImprovementCheck& check) {
  return check.reason.empty() ? std::optional(check.margin) : std::nullopt;
}

// A line of curves.csv.
struct CurvePoint {
  std::int64_t n;
  double x, data, model, optimal, estimate, low, high;
};

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
  static const CsvColumns<ToyPanel> columns = {
      {"n", "points", "size of the data", [](const ToyPanel& p) { return p.curves.n; }},
      {"model_mean", "x", "mean of the fitted Gaussian",
       [](const ToyPanel& p) { return p.curves.model_mean; }},
      {"model_deviation", "x", "standard deviation of the fitted Gaussian",
       [](const ToyPanel& p) { return p.curves.model_deviation; }},
      {"rms_gap", "", "root mean square of estimated less optimal probability",
       OfSummary(&ToySummary::rms_gap)},
      {"interval_width", "", "mean width of the interval of the probability",
       OfSummary(&ToySummary::mean_width)},
      {"coverage", "", "share of the points whose interval holds the optimal probability",
       OfSummary(&ToySummary::coverage)},
      {"model_divergence", "nats", "divergence of the data from the model",
       OfSummary(&ToySummary::model_divergence)},
      {"resampled_divergence", "nats", "divergence of the data from the resampled model",
       OfSummary(&ToySummary::resampled_divergence)},
      {"check_margin", "nats", "estimated reduction of the divergence",
       [](const ToyPanel& p) { return MarginOf(p.summary.conditions.divergence); }},
      {"check_stderr", "nats", "standard error of check_margin",
       [](const ToyPanel& p) { return p.summary.conditions.divergence.standard_error; }},
      {"mean_weight_margin", "nats", "margin of the condition on the mean weight",
       [](const ToyPanel& p) { return MarginOf(p.summary.conditions.mean_weight); }},
      {"mean_log_weight_margin", "nats", "margin of the condition on the mean log-weight",
       [](const ToyPanel& p) { return MarginOf(p.summary.conditions.mean_log_weight); }},
      {"log_partition", "nats", "log of the mean weight of the model's points",
       [](const ToyPanel& p) { return p.summary.partition.value; }},
      {"log_partition_stderr", "nats", "standard error of log_partition",
       [](const ToyPanel& p) { return p.summary.partition.standard_error; }},
      {"ess", "points", "effective sample size of the weights", OfSummary(&ToySummary::ess)},
      {"reason", "", "why there is no check_margin",
       [](const ToyPanel& p) { return p.summary.conditions.divergence.reason; }}};
  return columns.Format(panels);
}

std::string ToyCurvesCsv(const ToyGaussianConfig& config, std::span<const ToyPanel> panels) {
  static const CsvColumns<CurvePoint> columns = {
      {"n", "points", "size of the data", &CurvePoint::n},
      {"x", "x", "point of the grid", &CurvePoint::x},
      {"data_density", "1 / x", "density of the mixture", &CurvePoint::data},
      {"model_density", "1 / x", "density of the fitted Gaussian", &CurvePoint::model},
      {"optimal", "", "true probability of being real", &CurvePoint::optimal},
      {"estimate", "", "the classifier's probability of being real", &CurvePoint::estimate},
      {"low", "", "lower end of the interval of estimate", &CurvePoint::low},
      {"high", "", "upper end of the interval of estimate", &CurvePoint::high}};
  std::vector<CurvePoint> points;
  for (const ToyPanel& panel : panels) {
    const Truth truth(config, panel.curves);
    for (std::size_t i = 0; i < truth.x.size(); ++i) {
      points.push_back({.n = panel.curves.n,
                        .x = truth.x[i],
                        .data = truth.data[i],
                        .model = truth.model[i],
                        .optimal = truth.optimal[i],
                        .estimate = Probability(panel.curves.estimate[i]),
                        .low = Probability(panel.curves.low[i]),
                        .high = Probability(panel.curves.high[i])});
    }
  }
  return columns.Format(points);
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
