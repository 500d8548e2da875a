#include "experiments/evaluation/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "experiments/evaluation/report_estimates.h"
#include "experiments/evaluation/report_figures.h"
#include "experiments/evaluation/report_ranking.h"
#include "experiments/evaluation/report_summary.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/json_object.h"
#include "experiments/presentation/number_text.h"
#include "experiments/presentation/stage_files.h"
#include "experiments/presentation/subprocess.h"

namespace lfiw::experiments {
namespace {

using Value = std::optional<double>;
using Entries = std::vector<std::pair<std::string, std::string>>;

struct DrawnFigure {
  std::string svg;
  std::string caption;
};

struct Drawings {
  std::map<std::string, DrawnFigure> figures;
  std::string failure;  // why the rest is missing; empty when all went well
};

Drawings Draw(const JsonObject& report, const PlotOptions& options) {
  Drawings drawings;
  for (const ReportFigure& figure : ReportFigures(report)) {
    try {
      drawings.figures[figure.name] = {RenderSvg(figure.plot, options), figure.caption};
    } catch (const ProgramError& error) {
      // the others would fail alike, or each take the whole time limit
      drawings.failure = error.what();
      break;
    }
  }
  return drawings;
}

// Adds those of the named figures that were drawn; says `missing`, if anything, when there is none.
void AddFigures(const Drawings& drawings, const std::vector<std::string>& names,
                const std::string& missing, HtmlFragment& html) {
  std::vector<HtmlFragment> found;
  for (const std::string& name : names) {
    const auto it = drawings.figures.find(name);
    if (it == drawings.figures.end()) continue;
    found.emplace_back().Figure(name, it->second.svg, it->second.caption);
  }
  if (!found.empty()) html.Columns(found);
  if (found.empty() && drawings.failure.empty() && !missing.empty()) html.Muted(missing);
}

void AddIfPresent(const std::string& term, const std::string& text, Entries& entries) {
  if (!text.empty() && text != kNoNumber) entries.emplace_back(term, text);
}

HtmlFragment HorizonSection(const Drawings& drawings) {
  HtmlFragment html;
  html.Heading(2, "How does the answer depend on the correction?");
  const std::string missing = "This run holds no sweep over the number of weighted steps H.";
  AddFigures(drawings, {"ess_by_horizon", "khat_by_horizon", "max_weight_by_horizon"}, missing,
             html);
  return html;
}

HtmlFragment ClassifierSection(const JsonObject& report, const Drawings& drawings) {
  HtmlFragment html;
  html.Heading(2, "Can the correction be relied on?");
  if (const auto calibration = report.Object("calibration")) {
    Entries entries;
    AddIfPresent("Classifiers", CountText(calibration->Number("classifiers")), entries);
    if (const Value auc = calibration->Number("auc"))
      entries.emplace_back("Area under the ROC curve",
                           FixedText(auc, 3) +
                               " (0.5: real and model-made transitions look alike; 1: told apart "
                               "without fail)");
    if (const Value ece = calibration->Number("ece"))
      entries.emplace_back("Calibration error", FixedText(ece, 3) +
                                                    " (mean gap between predicted probability and "
                                                    "observed share)");
    html.Definitions(entries);
  } else {
    html.Muted("This run holds no check of the classifiers on held-out transitions.");
  }
  AddFigures(drawings, {"mean_weight", "reliability", "calibration_counts"},
             "There is no figure of the weights.", html);
  return html;
}

std::string SpreadText(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return "";
  std::sort(values.begin(), values.end());
  return fmt::format("{} (lowest {}, highest {})", FixedText(values[values.size() / 2], 3),
                     FixedText(values.front(), 3), FixedText(values.back(), 3));
}

// How many outcomes the model draws with noise, and what says so.
std::string NoiseText(const JsonObject& noise) {
  std::vector<double> counts = noise.Numbers("counts");
  const std::vector<double> squared = noise.Numbers("squared"), shared = noise.Numbers("shared");
  std::vector<double> shares;
  for (std::size_t j = 0; j < std::min(squared.size(), shared.size()); ++j) {
    shares.push_back(shared[j] / squared[j]);
  }
  std::string text =
      fmt::format("in {} of {} outcomes the members share their errors ({} of their squares)",
                  std::count(counts.begin(), counts.end(), 1.0), counts.size(), SpreadText(shares));
  const auto choice = noise.Object("choice");
  if (!choice) return text;
  const std::vector<double> scales = choice->Numbers("scales"), values = choice->Numbers("values");
  text += fmt::format("; the logged policy, worth {} by the log, is worth",
                      NumberText(choice->Number("logged")));
  for (std::size_t k = 0; k < std::min(scales.size(), values.size()); ++k) {
    text += fmt::format("{} {} with {:g} % of that noise", k == 0 ? "" : ",", NumberText(values[k]),
                        100.0 * scales[k]);
  }
  return text + fmt::format("; {:g} % is drawn", 100.0 * choice->Number("chosen").value_or(1.0));
}

HtmlFragment ModelSection(const JsonObject& report, const Drawings& drawings) {
  HtmlFragment html;
  html.Heading(2, "How good is the model?");
  const auto dynamics = report.Object("dynamics");
  if (!dynamics) {
    html.Muted("This run holds no dynamics model.");
    return html;
  }
  Entries entries;
  AddIfPresent("Kind", dynamics->Text("kind"), entries);
  AddIfPresent("Members", CountText(dynamics->Number("members")), entries);
  if (const auto noise = dynamics->Object("noise")) {
    entries.emplace_back("Noise in the log", NoiseText(*noise));
  }
  AddIfPresent("Negative log-likelihood, held out", NumberText(dynamics->Number("nll")), entries);
  AddIfPresent("R\xC2\xB2 of one step, median of the dimensions",
               SpreadText(dynamics->Numbers("r2")), entries);
  if (const auto clamps = report.Object("clamps")) {
    std::string text =
        FixedText(clamps->Number("rate") ? *clamps->Number("rate") * 100.0 : Value(), 2);
    if (text != kNoNumber) text += " %";
    if (clamps->Number("count") && clamps->Number("total"))
      text += fmt::format(" ({} of {})", CountText(clamps->Number("count")),
                          CountText(clamps->Number("total")));
    entries.emplace_back("Predictions limited to the range of the data", text);
  }
  html.Definitions(entries);
  AddFigures(drawings, {"open_loop"}, "The model's error over several steps was not measured.",
             html);
  return html;
}

// Held-out quality of a learned reward and termination.
void AddLearned(const JsonObject& learned, Entries& entries) {
  if (const auto reward = learned.Object("reward")) {
    AddIfPresent("Learned reward, R\xC2\xB2 on held-out episodes",
                 FixedText(reward->Number("r2"), 4), entries);
  }
  if (const auto end = learned.Object("termination")) {
    AddIfPresent("Learned end of an episode", end->Text("note"), entries);
    if (const Value positives = end->Number("positives")) {
      entries.emplace_back(
          "Learned end of an episode, held-out steps",
          fmt::format("{} ends, {} of them missed; {} false alarms", CountText(positives),
                      CountText(end->Number("missed")), CountText(end->Number("false_alarms"))));
    }
  }
}

HtmlFragment DataSection(const JsonObject& report) {
  HtmlFragment html;
  html.Heading(2, "What is it based on?");
  Entries entries;
  AddIfPresent("Behavior policy", report.Text("behavior_policy"), entries);
  AddIfPresent("Evaluation policy", report.Text("evaluation_policy"), entries);
  const auto log = report.Object("log");
  if (log) {
    AddIfPresent("Episodes", CountText(log->Number("episodes")), entries);
    AddIfPresent("Steps", CountText(log->Number("steps")), entries);
    AddIfPresent("Episodes for the model", CountText(log->Number("train_episodes")), entries);
    AddIfPresent("Episodes for the classifiers", CountText(log->Number("classifier_episodes")),
                 entries);
    std::string constant;
    for (const double dimension : log->Numbers("constant_dims"))
      constant += (constant.empty() ? "" : ", ") + CountText(dimension);
    AddIfPresent("Constant observation dimensions", constant, entries);
  }
  if (const auto reward = report.Object("reward_check")) {
    AddIfPresent("Reward", reward->Text("source"), entries);
    AddIfPresent("Reward error on the log, root mean square",
                 NumberText(reward->Number("rms_error")), entries);
    AddIfPresent("Reward error on the log, mean", NumberText(reward->Number("mean_error")),
                 entries);
    AddIfPresent("Reward, note", reward->Text("note"), entries);
  }
  if (const auto support = report.Object("support")) {
    if (const Value outside = support->Number("outside")) {
      entries.emplace_back("The policy's states and actions far from all logged ones",
                           FixedText(100.0 * *outside, 1) + " %");
    }
  }
  if (const auto learned = report.Object("learned")) AddLearned(*learned, entries);
  if (!entries.empty()) html.Definitions(entries);
  if (!log) html.Muted("This run says nothing about its log.");
  if (!report.Has("reward_check")) html.Muted("The reward was not checked against the log.");
  return html;
}

HtmlFragment TrainingSection(const Drawings& drawings) {
  HtmlFragment curves;
  AddFigures(drawings, {"dynamics_training", "classifier_training", "policy_training"},
             "This run holds no learning curves.", curves);
  HtmlFragment html;
  html.Heading(2, "Did the training converge?");
  if (drawings.figures.contains("dynamics_training") ||
      drawings.figures.contains("classifier_training") ||
      drawings.figures.contains("policy_training")) {
    html.Details("Learning curves", curves);
  } else {
    html.Append(curves);
  }
  return html;
}

HtmlTable TimingTable(const std::vector<JsonObject>& timings) {
  HtmlTable table{.columns = {{"Stage"}, {"Time", HtmlAlign::kNumber}, {""}}};
  double total = 0.0;
  for (const JsonObject& timing : timings) {
    const Value seconds = timing.Number("seconds");
    table.rows.push_back({{timing.Text("stage"), DurationText(seconds),
                           timing.Flag("cached") ? "kept from an earlier run" : ""}});
    if (!timing.Flag("cached")) total += seconds.value_or(0.0);
  }
  table.rows.push_back({{"this run", DurationText(total), ""}});
  return table;
}

HtmlFragment ProvenanceSection(const JsonObject& report) {
  HtmlFragment html;
  html.Heading(2, "How this page was made");
  const std::vector<std::string> notes = report.Texts("notes");
  if (!notes.empty()) html.List(notes);
  if (report.Has("command")) {
    html.Code(report.Text("command"));
  } else {
    html.Muted("The command of this run was not recorded.");
  }
  const std::vector<JsonObject> timings = report.Objects("timings");
  if (!timings.empty()) html.Table(TimingTable(timings));
  if (const auto versions = report.Object("versions")) {
    Entries entries;
    for (const std::string& name : versions->Keys())
      entries.emplace_back(name, versions->AnyText(name));
    HtmlFragment body;
    body.Definitions(entries);
    html.Details("Versions", body);
  }
  return html;
}

HtmlFragment Glossary() {
  HtmlFragment body;
  body.Definitions({
      {"Value", "The return that a policy collects on average, as stated at the top."},
      {"Estimate",
       "The value as computed from the log alone, without running the evaluation "
       "policy."},
      {"Standard error",
       "How much the estimate would vary with other rollouts and classifiers. It "
       "does not cover the errors that all of them share, such as the model's."},
      {"Interval",
       "A range for the value. What it covers is named with it; what it does not vary "
       "is not covered."},
      {"Weight",
       "How much more likely a rollout is in the real environment than in the model, as "
       "judged by classifiers that tell real from model-made transitions."},
      {"H",
       "The number of steps, from the start, whose weights are used. H = 0 is the model alone, "
       "the full length is the full correction; more correction means more variance."},
      {"ESS",
       "Effective sample size: the number of equally weighted rollouts that would be worth "
       "as much as the weighted ones."},
      {"k-hat",
       "Shape of the tail of the weights (Pareto smoothed importance sampling). Above the "
       "threshold their mean is unreliable."},
  });
  HtmlFragment html;
  html.Details("Terms on this page", body);
  return html;
}

HtmlFragment Body(const JsonObject& report, const Drawings& drawings) {
  HtmlFragment html;
  html.Heading(1, "What is the new policy worth?");
  std::string about = report.Has("title") ? report.Text("title") : "Off-policy evaluation";
  if (report.Has("environment")) about += ", environment: " + report.Text("environment");
  html.Muted(about);
  html.Append(SummarySection(report));
  AddFigures(drawings, {"value_by_horizon"}, "", html);
  html.Append(RankingSection(report));
  html.Append(EstimatesSection(report));
  html.Append(CorrectionSection(report));
  if (!drawings.failure.empty()) html.Muted("Figures are left out: " + drawings.failure + ".");
  html.Append(HorizonSection(drawings));
  html.Append(ClassifierSection(report, drawings));
  html.Append(ModelSection(report, drawings));
  html.Append(DataSection(report));
  html.Append(TrainingSection(drawings));
  html.Append(ProvenanceSection(report));
  html.Append(Glossary());
  return html;
}

std::string Page(const JsonObject& report, const Drawings& drawings) {
  return HtmlPage(report.Has("title") ? report.Text("title") : "Off-policy evaluation",
                  Body(report, drawings));
}

}  // namespace

void WriteReport(const std::string& run_dir, const PlotOptions& options) {
  const std::string source = run_dir + "/report.json";
  const nlohmann::json report = ReadJson(source);
  const JsonObject root(report, source);
  const Drawings drawings = Draw(root, options);
  CreateDirectories(run_dir + "/plots");
  for (const auto& [name, figure] : drawings.figures)
    WriteFileAtomically(fmt::format("{}/plots/{}.svg", run_dir, name), figure.svg);
  WriteFileAtomically(run_dir + "/report.html", Page(root, drawings));
}

}  // namespace lfiw::experiments
