#include "experiments/evaluation/report_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "core/index_list.h"
#include "core/statistics.h"
#include "experiments/presentation/json_object.h"
#include "models/episode_split.h"
#include "models/torchscript_function.h"
#include "models/transition_view.h"
#include "ope/judgement/psis.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

json RowJson(const ResultRow& row) {
  return {{"estimator", row.estimator},
          {"params", row.params},
          {"horizon", row.horizon ? json(*row.horizon) : json(nullptr)},
          {"value", NumberOrNull(row.value)},
          {"log10_value", NumberOrNull(row.log10_value)},
          {"stderr", NumberOrNull(row.standard_error)},
          {"se_within", NumberOrNull(row.se_within)},
          {"se_between", NumberOrNull(row.se_between)},
          {"ci_low", NumberOrNull(row.ci_low)},
          {"ci_high", NumberOrNull(row.ci_high)},
          {"interval_method", row.interval_method},
          {"ess", NumberOrNull(row.ess)},
          {"khat", NumberOrNull(row.khat)},
          {"max_weight", NumberOrNull(row.max_weight)},
          {"error", NumberOrNull(row.error)},
          {"reason", row.value ? row.verdict : row.reason}};
}

json SweepJson(const ReportInputs& in, const EvaluationMeasurements& measured) {
  json horizons = json::array();
  for (std::int64_t h = 0; h <= in.config.value.horizon; ++h) horizons.push_back(h);
  json series = json::array();
  for (const EstimatorSweep& sweep : measured.sweeps) {
    json entry = {{"label", sweep.Label()}};
    for (const LfiwEstimate& estimate : sweep.result.horizons) {
      entry["value"].push_back(NumberOrNull(estimate.value));
      entry["stderr"].push_back(NumberOrNull(estimate.standard_error));
      entry["ess"].push_back(estimate.ess);
      entry["khat"].push_back(NumberOrNull(estimate.khat));
      entry["max_weight"].push_back(estimate.max_weight);
    }
    series.push_back(std::move(entry));
  }
  const std::int64_t n = in.config.rollout.episodes;
  return {
      {"horizon", horizons}, {"n", n}, {"khat_threshold", KhatThreshold(n)}, {"series", series}};
}

json MeanWeightJson(const std::vector<MeanWeight>& weights) {
  json steps = json::array();
  json series = {{"label", "mean over rollouts and classifiers"}};
  for (const MeanWeight& weight : weights) {
    steps.push_back(weight.step);
    const double mean = std::exp(weight.log_mean);
    series["value"].push_back(weight.supported ? json(mean) : json(nullptr));
    series["stderr"].push_back(weight.log_stderr ? json(mean * *weight.log_stderr) : json(nullptr));
  }
  return {{"step", steps}, {"series", json::array({series})}};
}

json CalibrationJson(const Calibration& calibration, std::size_t classifiers) {
  json bins = json::array();
  for (const ReliabilityBin& bin : calibration.bins) {
    bins.push_back({{"probability", bin.mean_probability},
                    {"fraction", bin.positive_fraction},
                    {"count", bin.count}});
  }
  return {{"auc", calibration.auc},
          {"ece", calibration.ece},
          {"classifiers", classifiers},
          {"bins", bins}};
}

// Learning curves of the fits of one kind, numbered by `index`.
json HistoriesJson(const std::vector<FitHistory>& histories, const char* index) {
  json list = json::array();
  for (std::size_t k = 0; k < histories.size(); ++k) {
    list.push_back({{"step", histories[k].steps},
                    {"train", histories[k].train_loss},
                    {"validation", histories[k].validation_loss},
                    {index, k}});
  }
  return list;
}

json CurvesJson(const std::vector<TrainingCurve>& curves) {
  json list = json::array();
  for (const TrainingCurve& curve : curves) {
    list.push_back({{"label", curve.label}, {"steps", curve.steps}, {"return", curve.returns}});
  }
  return list;
}

json DynamicsJson(const FittedModels& models) {
  const DynamicsReport& report = models.dynamics_report;
  std::vector<std::int64_t> k(report.open_loop.size());
  std::iota(k.begin(), k.end(), std::int64_t{1});
  json dynamics = {{"kind", EnumName(models.dynamics.kind())},
                   {"members", models.dynamics.members()},
                   {"r2", report.errors.r2},
                   {"open_loop", {{"k", k}, {"rms", report.open_loop}}},
                   {"history", HistoriesJson(models.dynamics_histories, "member")}};
  if (models.noise) {
    dynamics["noise"] = {{"rows", models.noise->rows},
                         {"squared", models.noise->squared},
                         {"shared", models.noise->shared},
                         {"counts", models.noise->counts}};
  }
  if (models.noise_choice) {
    dynamics["noise"]["choice"] = {{"scales", models.noise_choice->scales},
                                   {"values", models.noise_choice->values},
                                   {"errors", models.noise_choice->errors},
                                   {"logged", models.noise_choice->logged},
                                   {"chosen", models.noise_choice->chosen}};
  }
  if (report.errors.mixture_nll) dynamics["nll"] = *report.errors.mixture_nll;
  return dynamics;
}

json LearnedJson(const LearnedErrors& learned) {
  json report = json::object();
  if (learned.reward) {
    report["reward"] = {{"rmse", learned.reward->rmse},
                        {"mean_error", learned.reward->mean_error},
                        {"r2", NumberOrNull(learned.reward->r2)}};
  }
  if (learned.termination) {
    report["termination"] = {{"log_loss", learned.termination->log_loss},
                             {"positives", learned.termination->positives},
                             {"missed", learned.termination->missed},
                             {"false_alarms", learned.termination->false_alarms}};
  }
  if (!learned.termination_note.empty()) {
    report["termination"]["note"] = learned.termination_note;
  }
  return report;
}

json LogJson(const ReportInputs& in) {
  return {{"episodes", in.log.log.episodes()},
          {"steps", in.log.log.steps()},
          {"train_episodes", in.split.dynamics.size()},
          {"classifier_episodes", in.split.classifiers.size()},
          {"constant_dims", in.models.dynamics.FixedStateDims()}};
}

json RewardJson(std::span<const RewardCheck> checks) {
  std::string note;
  for (const RewardCheck& check : checks) {
    note += fmt::format("{}{}: rms {:.3g} per step, mean error of an episode's return {:+.3g}",
                        note.empty() ? "" : "; ", check.source, check.rms_error,
                        check.mean_return_error);
  }
  return {{"source", checks.front().source},
          {"rms_error", checks.front().rms_error},
          {"mean_error", checks.front().mean_error},
          {"note", note}};
}

json BacktestJson(const Backtest& test) {
  return {{"estimate", test.estimate},
          {"stderr", NumberOrNull(test.estimate_stderr)},
          {"gap", test.Gap()},
          {"noise", test.Noise()}};
}

void AddDifference(const ReportInputs& in, const PolicyEvaluation& evaluation, json& entry) {
  if (!in.logged) return;
  const auto difference =
      DifferenceFromLog(evaluation.stated(), *in.logged, in.config.intervals.level);
  if (!difference) return;
  entry["difference"] = {
      {"value", difference->value}, {"ci_low", difference->low}, {"ci_high", difference->high}};
}

json RankingJson(const ReportInputs& in) {
  json ranking = json::array();
  for (std::size_t i = 0; i < in.evaluations.size(); ++i) {
    const PolicyEvaluation& evaluation = in.evaluations[i];
    json entry = RowJson(evaluation.stated());
    entry["policy"] = evaluation.policy.label;
    entry["verdict"] = evaluation.stated().verdict;
    entry["truth"] = NumberOrNull(evaluation.stated().truth);
    AddDifference(in, evaluation, entry);
    if (i < in.from_best.size() && in.from_best[i]) {
      const PolicyDifference& difference = *in.from_best[i];
      entry["from_best"] = {{"value", difference.value},
                            {"ci_low", difference.low},
                            {"ci_high", difference.high},
                            {"method", EnumName(difference.method)}};
    }
    ranking.push_back(std::move(entry));
  }
  return ranking;
}

json DoublyRobustJson(const EvaluationMeasurements& measured) {
  const ChosenDoublyRobust& chosen = measured.doubly_robust->chosen;
  json candidates = json::array();
  for (const PowerCandidate& candidate : chosen.candidates) {
    candidates.push_back({{"power", candidate.power},
                          {"value", NumberOrNull(candidate.value)},
                          {"stderr", NumberOrNull(candidate.standard_error)},
                          {"ess", NumberOrNull(candidate.ess)},
                          {"left_out", candidate.left_out}});
  }
  // a refused estimate has chosen none
  const json power = chosen.estimate.value ? json(chosen.power) : json(nullptr);
  return {{"model", measured.plain.value},
          {"value", NumberOrNull(chosen.estimate.value)},
          {"power", power},
          {"episodes", measured.doubly_robust->episodes},
          {"candidates", candidates},
          {"notes", chosen.estimate.notes}};
}

json Notes(const ReportInputs& in, const EvaluationMeasurements& measured,
           const Headline& headline) {
  const ImprovementCheck& check = measured.improvement;
  json notes = {"The estimate stated first is chosen from diagnostics alone: " + headline.why +
                "."};
  if (check.reason.empty()) {
    notes.push_back(fmt::format(
        "Necessary condition for the weights to bring the model closer to the data, on held-out "
        "transitions: E_data[log w] - log E_model[w] = {:.3f} nats, which {}.",
        check.margin, check.holds ? "holds" : "fails"));
  }
  for (const std::string& note : in.log.notes) notes.push_back("The log: " + note + ".");
  for (const Finding& finding : in.log.audit.findings) {
    notes.push_back(fmt::format("Audit of the log, {}: {}.", SeverityName(finding.severity),
                                FindingText(finding)));
  }
  if (!in.split.skipped.empty()) {
    notes.push_back(
        "Cross-fitting trains the dynamics on all episodes, so its errors below are not "
        "held-out ones.");
  }
  notes.push_back(
      "Calibration is measured on episodes that the bootstrap of each classifier left out.");
  notes.push_back(
      "All episodes begin at first states of the log or at resets, run for T steps, and "
      "actions are clipped to the environment's bounds in log, model and truth alike.");
  return notes;
}

// The reward sources that differ for an environment.
std::vector<RewardSource> SourcesOf(const EnvSpec& spec) {
  if (spec.aux_dim() == 0) return {RewardSource::kDisplacement};
  return {RewardSource::kDisplacement, RewardSource::kTrapezoid, RewardSource::kEndVelocity};
}

// Those listed, else 1, 2, 5, 10, 20, 50, ... below T; T always.
std::set<std::int64_t> TableHorizons(const EvaluationConfig& config) {
  const std::int64_t last = config.value.horizon;
  std::set<std::int64_t> horizons(config.estimators.horizons.begin(),
                                  config.estimators.horizons.end());
  if (horizons.empty()) {
    for (std::int64_t decade = 1; decade < last; decade *= 10) {
      for (const std::int64_t h : {decade, 2 * decade, 5 * decade}) {
        if (h < last) horizons.insert(h);
      }
    }
  }
  horizons.insert(last);
  return horizons;
}

// How far the rewards of `steps` are from those of their log.
RewardCheck CheckAgainst(const TransitionView& steps, std::span<const double> predicted,
                         std::string source) {
  const EpisodeBatch& log = steps.log();
  RewardCheck check{.source = std::move(source)};
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const std::int64_t step = steps.Step(static_cast<std::int64_t>(i));
    const double error = predicted[i] - log.rewards[static_cast<std::size_t>(step)];
    check.mean_error += error / static_cast<double>(predicted.size());
    check.rms_error += error * error / static_cast<double>(predicted.size());
  }
  check.rms_error = std::sqrt(check.rms_error);
  check.mean_return_error =
      check.mean_error * static_cast<double>(log.steps()) / static_cast<double>(log.episodes());
  return check;
}

}  // namespace

std::vector<RewardCheck> CheckRewards(const StageContext& context, const EpisodeBatch& log,
                                      const FittedModels& models) {
  const TaskOptions& task = context.config.task;
  if (task.reward == RewardFunction::kLearned) {
    const RewardErrors& errors = models.learned.reward.value();
    return {{.source = "learned from the log",
             .mean_error = errors.mean_error,
             .rms_error = errors.rmse,
             .mean_return_error = errors.mean_error * static_cast<double>(log.steps()) /
                                  static_cast<double>(log.episodes())}};
  }
  const TransitionView steps(log, IndexList(log.episodes()));
  std::vector<double> predicted(static_cast<std::size_t>(steps.size()));
  std::vector<RewardCheck> checks;
  const auto part_of = [&predicted](std::int64_t begin, const Transitions& t) {
    return std::span(predicted).subspan(static_cast<std::size_t>(begin),
                                        static_cast<std::size_t>(t.size()));
  };
  if (models.reward) {
    const auto predict = [&](std::int64_t begin, const Transitions& t) {
      models.reward->Predict(t.states, t.actions, t.next_states, part_of(begin, t));
    };
    ForEachBlock(steps, predict, TorchScriptFunction::kChunkRows);
    return {CheckAgainst(steps, predicted, "TorchScript module " + task.reward_file)};
  }
  const EnvFactory& env = *context.task.env;
  for (const RewardSource source : SourcesOf(env.spec())) {
    const std::unique_ptr<TaskRules> rules = env.MakeTaskRules(source);
    ForEachBlock(steps, [&](std::int64_t begin, const Transitions& t) {
      rules->Rewards(t.states, t.actions, t.next_states, t.aux, part_of(begin, t));
    });
    checks.push_back(CheckAgainst(steps, predicted, std::string(EnumName(source))));
  }
  return checks;
}

std::optional<Difference> DifferenceFromLog(const ResultRow& row, const Backtest& logged,
                                            double level) {
  if (!row.value || !row.ci_low || !row.ci_high || !logged.logged_stderr) return std::nullopt;
  const double spread = NormalQuantile(0.5 + 0.5 * level) * *logged.logged_stderr;
  Difference difference{.value = *row.value - logged.logged};
  difference.low = difference.value - std::hypot(*row.value - *row.ci_low, spread);
  difference.high = difference.value + std::hypot(*row.ci_high - *row.value, spread);
  return difference;
}

std::vector<JudgedRow> TableRows(const EvaluationConfig& config,
                                 const PolicyEvaluation& evaluation) {
  const std::set<std::int64_t> horizons = TableHorizons(config);
  const Headline headline = ChooseHeadline(evaluation.measured);
  std::vector<JudgedRow> table;
  for (const JudgedRow& judged : evaluation.rows) {
    const RowKey& key = judged.key;
    const bool listed = key.kind != RowKind::kWeighted || horizons.contains(key.horizon);
    if (listed || key == headline.key) table.push_back(judged);
  }
  return table;
}

json MakeReport(const ReportInputs& in, const PolicyEvaluation& evaluation) {
  const EvaluationMeasurements& measured = evaluation.measured;
  const Headline headline = ChooseHeadline(measured);
  const std::vector<JudgedRow> table = TableRows(in.config, evaluation);
  const JudgedRow& judged_answer = FindRow(headline.key, table);
  const auto stated = &judged_answer - table.data();
  const ResultRow& answer = judged_answer.row;
  json rows = json::array();
  for (const JudgedRow& judged : table) rows.push_back(RowJson(judged.row));

  json report = {
      {"title", in.config.name},
      {"environment", in.task.spec.name},
      {"evaluation_policy", evaluation.policy.policy->Description()},
      {"command", in.command},
      {"estimand",
       {{"horizon", in.config.value.horizon},
        {"discount", in.config.value.discount},
        {"scale", EnumName(in.config.value.scale)}}},
      {"confidence", in.config.intervals.level},
      {"headline", stated},
      {"verdict", {{"level", answer.verdict}, {"reasons", judged_answer.reasons}}},
      {"log", LogJson(in)},
      {"rows", rows},
      {"sweep", SweepJson(in, measured)},
      {"mean_weight", MeanWeightJson(measured.mean_weights)},
      {"calibration", CalibrationJson(measured.calibration, in.models.classifiers.size())},
      {"dynamics", DynamicsJson(in.models)},
      {"classifier_history", HistoriesJson(in.models.classifier_histories, "index")},
      {"policy_training", CurvesJson(in.policies.training)},
      {"reward_check", RewardJson(in.rewards)},
      {"clamps",
       {{"rate", measured.clamp_rate},
        {"count", evaluation.clamped_values},
        {"total", evaluation.predicted_values}}},
      {"learned", LearnedJson(in.models.learned)},
      {"notes", Notes(in, measured, headline)}};
  if (measured.doubly_robust) report["doubly_robust"] = DoublyRobustJson(measured);
  if (judged_answer.reasons.empty() && !answer.reason.empty()) {
    report["verdict"]["reasons"].push_back(answer.reason);
  }
  if (in.policies.behavior) {
    report["behavior_policy"] = in.policies.behavior->policy->Description();
  }
  if (in.logged) {
    report["behavior_value"] = {{"value", in.logged->logged},
                                {"stderr", NumberOrNull(in.logged->logged_stderr)}};
  }
  AddDifference(in, evaluation, report);
  if (const auto test = evaluation.back_test()) report["back_test"] = BacktestJson(*test);
  if (measured.support) {
    report["support"] = {{"outside", measured.support->outside},
                         {"median_ratio", measured.support->median_ratio},
                         {"worst_quarter", measured.support->worst_quarter}};
  }
  if (in.evaluations.size() > 1) {
    report["policy"] = evaluation.policy.label;
    report["ranking"] = RankingJson(in);
  }
  if (measured.truth) {
    report["truth"] = {{"value", measured.truth->value},
                       {"stderr", measured.truth->standard_error},
                       {"episodes", measured.truth->episodes}};
  }
  return report;
}

}  // namespace lfiw::experiments
