#include "experiments/evaluation/report_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

using Values = std::vector<double>;

Values Shifted(const Values& values, const Values& by, double sign) {
  Values shifted = values;
  for (std::size_t i = 0; i < by.size(); ++i) shifted[i] += sign * by[i];
  return shifted;
}

// A series with a band of one standard error, if standard errors are given.
PlotSeries WithBand(const std::string& label, const Values& x, const Values& y,
                    const Values& stderrs) {
  PlotSeries series{.label = label, .x = x, .y = y};
  if (!stderrs.empty()) {
    series.low = Shifted(y, stderrs, -1.0);
    series.high = Shifted(y, stderrs, 1.0);
  }
  return series;
}

bool IsDrawable(const Plot& plot) {
  return std::any_of(plot.series.begin(), plot.series.end(),
                     [&](const PlotSeries& series) { return IsDrawable(plot, series); });
}

class FigureList {
 public:
  // Leaves out a plot without a point: its data was missing.
  void Add(const std::string& name, Plot plot, const std::string& caption) {
    if (IsDrawable(plot)) figures_.push_back({name, caption, std::move(plot)});
  }
  std::vector<ReportFigure> Take() { return std::move(figures_); }

 private:
  std::vector<ReportFigure> figures_;
};

// One series per entry of sweep.series, of the member `key` against H.
std::vector<PlotSeries> SweepSeries(const JsonObject& sweep, const std::string& key) {
  const Values horizon = sweep.Numbers("horizon");
  std::vector<PlotSeries> all;
  for (const JsonObject& entry : sweep.Objects("series")) {
    PlotSeries series{.label = entry.Text("label"), .y = entry.Numbers(key, horizon.size())};
    if (!series.y.empty()) series.x = horizon;
    all.push_back(std::move(series));
  }
  return all;
}

// The estimate stated first as a level with its interval, where it is none of the sweep's: those
// have a horizon.
std::optional<PlotSeries> StatedLevel(const JsonObject& report, const Values& horizon) {
  const std::vector<JsonObject> rows = report.Objects("rows");
  const auto place = report.Number("headline");
  if (!place || *place < 0 || *place >= static_cast<double>(rows.size()) || horizon.empty()) {
    return {};
  }
  const JsonObject& row = rows[static_cast<std::size_t>(*place)];
  const auto value = row.Number("value");
  if (row.Number("horizon") || !value) return {};
  PlotSeries level{.label = "stated: " + row.Text("estimator"),
                   .x = {horizon.front(), horizon.back()},
                   .y = {*value, *value}};
  const auto low = row.Number("ci_low"), high = row.Number("ci_high");
  if (low && high) {
    level.low = {*low, *low};
    level.high = {*high, *high};
  }
  return level;
}

void AddAnswers(const JsonObject& report, const JsonObject& sweep, FigureList& figures) {
  const Values horizon = sweep.Numbers("horizon");
  Plot plot{.title = "What the estimators say",
            .x_label = "H, steps that are weighted",
            .y_label = "value"};
  for (const JsonObject& entry : sweep.Objects("series")) {
    const Values y = entry.Numbers("value", horizon.size());
    plot.series.push_back(WithBand(entry.Text("label"), y.empty() ? Values() : horizon, y,
                                   entry.Numbers("stderr", horizon.size())));
  }
  std::string caption =
      "The published estimators when the weights of the first H steps are used; at H = 0 they are "
      "the plain model. A curve that still drifts or widens at large H has not settled; its shaded "
      "band is one standard error on either side.";
  if (auto level = StatedLevel(report, horizon)) {
    caption += " The level is the estimate stated first, with its interval.";
    plot.series.push_back(*std::move(level));
  }
  const auto add_reference = [&](const char* object, const char* label) {
    const auto of = report.Object(object);
    const auto value = of ? of->Number("value") : std::nullopt;
    if (value) plot.references.push_back({*value, label});
  };
  add_reference("truth", "true value");
  add_reference("behavior_value", "logged policy");
  figures.Add("value_by_horizon", std::move(plot), caption);
}

void AddSweepDiagnostics(const JsonObject& sweep, FigureList& figures) {
  const std::string x_label = "H, steps that are weighted";
  const std::optional<double> n = sweep.Number("n"), threshold = sweep.Number("khat_threshold");
  Plot ess{.title = "Effective sample size against H",
           .x_label = x_label,
           .y_label = "effective sample size",
           .y_scale = PlotScale::kLog,
           .series = SweepSeries(sweep, "ess")};
  if (n) ess.references = {{*n, fmt::format("all {} rollouts", CountText(n))}};
  figures.Add("ess_by_horizon", std::move(ess),
              "How many of the rollouts effectively carry the estimate. Near the dashed line all "
              "count alike; near 1 a single rollout decides, and the estimate is little more than "
              "that rollout's return.");

  Plot khat{.title = "Tail of the weights against H",
            .x_label = x_label,
            .y_label = "Pareto k-hat",
            .series = SweepSeries(sweep, "khat")};
  if (threshold)
    khat.references = {{*threshold, fmt::format("reliable below {}", FixedText(threshold, 2))}};
  figures.Add("khat_by_horizon", std::move(khat),
              "How heavy the tail of the weights is. Above the dashed line their mean has not "
              "settled, and the estimate and its standard error cannot be trusted however small "
              "they look.");

  figures.Add("max_weight_by_horizon",
              {.title = "Largest weight against H",
               .x_label = x_label,
               .y_label = "largest share of the total weight",
               .series = SweepSeries(sweep, "max_weight")},
              "The share of the total weight that the heaviest rollout has. At 1 it decides "
              "alone.");
}

bool AnyAbove(const Values& values, double limit) {
  return std::any_of(values.begin(), values.end(), [=](double v) { return v > limit; });
}

void AddMeanWeight(const JsonObject& weights, FigureList& figures) {
  const Values step = weights.Numbers("step");
  Plot plot{.title = "Mean weight per step",
            .x_label = "step t",
            .y_label = "mean weight",
            .references = {{1.0, "1, as exact weights have"}}};
  for (const JsonObject& entry : weights.Objects("series")) {
    const Values y = entry.Numbers("value", step.size());
    // one extrapolating classifier can put a step at 1e26 and flatten all others
    if (AnyAbove(y, 30.0)) plot.y_scale = PlotScale::kLog;
    plot.series.push_back(WithBand(entry.Text("label"), y.empty() ? Values() : step, y,
                                   entry.Numbers("stderr", step.size())));
  }
  figures.Add("mean_weight", std::move(plot),
              "Exact weights average 1 at every step of the model's rollouts. A curve that leaves "
              "1 shows where the classifier no longer knows the states that the model reaches.");
}

void AddCalibration(const JsonObject& calibration, FigureList& figures) {
  PlotSeries observed{.label = "held-out transitions"}, counts{.style = PlotStyle::kBars};
  for (const JsonObject& bin : calibration.Objects("bins")) {
    const std::optional<double> probability = bin.Number("probability"),
                                fraction = bin.Number("fraction"), count = bin.Number("count");
    if (!probability) continue;
    if (fraction) {
      observed.x.push_back(*probability);
      observed.y.push_back(*fraction);
    }
    if (count) {
      counts.x.push_back(*probability);
      counts.y.push_back(*count);
    }
  }
  if (!observed.x.empty()) {
    Plot plot{.title = "Reliability of the classifiers",
              .x_label = "predicted probability of being real",
              .y_label = "observed share of real transitions",
              .series = {std::move(observed)}};
    plot.series.push_back({.label = "perfect calibration",
                           .x = {0.0, 1.0},
                           .y = {0.0, 1.0},
                           .style = PlotStyle::kGuide});
    figures.Add("reliability", std::move(plot),
                "Among transitions that the classifiers call real with probability p, a share p "
                "should be real. Points off the diagonal mean weights that are too large or too "
                "small.");
  }
  figures.Add("calibration_counts",
              {.title = "Predictions of the classifiers",
               .x_label = "predicted probability of being real",
               .y_label = "transitions",
               .series = {std::move(counts)}},
              "How often each probability is predicted. All near one half: real and model-made "
              "transitions look alike, and the weights stay near 1. At the ends: weights that "
              "vanish or explode.");
}

void AddOpenLoop(const JsonObject& dynamics, FigureList& figures) {
  const std::optional<JsonObject> open_loop = dynamics.Object("open_loop");
  if (!open_loop) return;
  const Values k = open_loop->Numbers("k");
  Values rms = open_loop->Numbers("rms", k.size());
  if (rms.empty()) return;
  figures.Add("open_loop",
              {.title = "Error of the model over k steps",
               .x_label = "steps k without looking at the log",
               .y_label = "root mean square error",
               .series = {{.x = k, .y = std::move(rms)}}},
              "The model repeats logged actions from a logged state and drifts away from what was "
              "recorded. The error is in standard deviations of the state, so at 1 it is as large "
              "as the states' own spread.");
}

// The mean of several curves at each step that any of them has, with the range they span.
PlotSeries MeanOfCurves(const std::string& label, const std::vector<JsonObject>& histories,
                        const std::string& key) {
  std::map<double, Values> by_step;
  for (const JsonObject& history : histories) {
    const Values step = history.Numbers("step"), value = history.Numbers(key, step.size());
    for (std::size_t i = 0; i < value.size(); ++i)
      if (std::isfinite(step[i]) && std::isfinite(value[i])) by_step[step[i]].push_back(value[i]);
  }
  PlotSeries series{.label = label};
  for (const auto& [step, values] : by_step) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    series.x.push_back(step);
    series.y.push_back(sum / static_cast<double>(values.size()));
    series.low.push_back(*std::min_element(values.begin(), values.end()));
    series.high.push_back(*std::max_element(values.begin(), values.end()));
  }
  if (histories.size() < 2) series.low = series.high = {};
  return series;
}

Plot LearningCurves(const std::string& title, const std::vector<JsonObject>& histories) {
  return {.title = title,
          .x_label = "gradient steps",
          .y_label = "loss",
          .series = {MeanOfCurves("training", histories, "train"),
                     MeanOfCurves("validation", histories, "validation")}};
}

void AddTraining(const JsonObject& report, FigureList& figures) {
  const std::string read =
      "Validation that turns upward while training falls is overfitting; curves that still fall at "
      "the end were stopped early.";
  if (const auto dynamics = report.Object("dynamics")) {
    const auto histories = dynamics->Objects("history");
    figures.Add(
        "dynamics_training", LearningCurves("Learning curves of the model", histories),
        fmt::format("Mean over {} members, with their range shaded. {}", histories.size(), read));
  }
  const auto histories = report.Objects("classifier_history");
  Plot classifiers = LearningCurves("Learning curves of the classifiers", histories);
  classifiers.references = {{std::log(2.0), "log 2: a coin toss"}};
  figures.Add("classifier_training", std::move(classifiers),
              fmt::format("Mean over {} classifiers, with their range shaded. {} A loss near log 2 "
                          "means that the model's transitions cannot be told from real ones.",
                          histories.size(), read));
}

void AddPolicyTraining(const JsonObject& report, FigureList& figures) {
  Plot plot{.title = "Learning curves of the policies",
            .x_label = "environment steps",
            .y_label = "return of an episode"};
  for (const JsonObject& entry : report.Objects("policy_training")) {
    const Values steps = entry.Numbers("steps");
    Values returns = entry.Numbers("return", steps.size());
    plot.series.push_back({.label = entry.Text("label"),
                           .x = returns.empty() ? Values() : steps,
                           .y = std::move(returns)});
  }
  figures.Add("policy_training", std::move(plot),
              "The mean return of the episodes seen while the policies were trained. Higher is "
              "better.");
}

}  // namespace

std::vector<ReportFigure> ReportFigures(const JsonObject& report) {
  FigureList figures;
  if (const auto sweep = report.Object("sweep")) {
    AddAnswers(report, *sweep, figures);
    AddSweepDiagnostics(*sweep, figures);
  }
  if (const auto weights = report.Object("mean_weight")) AddMeanWeight(*weights, figures);
  if (const auto calibration = report.Object("calibration")) AddCalibration(*calibration, figures);
  if (const auto dynamics = report.Object("dynamics")) AddOpenLoop(*dynamics, figures);
  AddTraining(report, figures);
  AddPolicyTraining(report, figures);
  return figures.Take();
}

}  // namespace lfiw::experiments
