#include "experiments/evaluation/run_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/run/result_table.h"
#include "core/run/system_info.h"
#include "envs/env_registry.h"
#include "experiments/evaluation/fit_models.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/policy_differences.h"
#include "experiments/evaluation/policy_evaluation.h"
#include "experiments/evaluation/report_json.h"
#include "experiments/evaluation/report_page.h"
#include "experiments/evaluation/screen_text.h"
#include "experiments/evaluation/sources.h"
#include "experiments/evaluation/time_estimate.h"
#include "experiments/presentation/event_file.h"
#include "experiments/presentation/fit_history.h"
#include "experiments/presentation/run_outputs.h"
#include "experiments/presentation/versions.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

// Best first by the stated estimate; policies without one come last.
void Rank(std::vector<PolicyEvaluation>& evaluations) {
  std::stable_sort(evaluations.begin(), evaluations.end(),
                   [](const PolicyEvaluation& a, const PolicyEvaluation& b) {
                     return a.stated().value.value_or(-HUGE_VAL) >
                            b.stated().value.value_or(-HUGE_VAL);
                   });
}

// Writes the learning curves of all fits of a kind as lines of metrics.jsonl.
std::string FitLines(const std::vector<FitHistory>& histories, const std::string& kind) {
  std::string lines;
  for (std::size_t k = 0; k < histories.size(); ++k) {
    lines += MetricLines(histories[k], fmt::format("{} {}", kind, k));
  }
  return lines;
}

// Writes estimates as lines like those of metrics.jsonl: curves by the truncation H.
std::string EstimateLines(const std::vector<ResultRow>& rows) {
  std::string lines;
  for (const ResultRow& row : rows) {
    std::string series = row.estimator;
    for (const std::string& part : {row.params, row.normalization, row.policy}) {
      if (!part.empty()) series += " " + part;
    }
    json line = {{"series", series}, {"step", row.horizon.value_or(0)}};
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (value) line[name] = *value;
    };
    add("value", row.value);
    add("ci_low", row.ci_low);
    add("ci_high", row.ci_high);
    add("truth", row.truth);
    // names of policies are those of files, which may hold any bytes
    lines += line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  return lines;
}

std::vector<ResultRow> AllRows(std::span<const PolicyEvaluation> evaluations) {
  std::vector<ResultRow> rows;
  for (const PolicyEvaluation& evaluation : evaluations) {
    for (const JudgedRow& judged : evaluation.rows) rows.push_back(judged.row);
  }
  return rows;
}

void AddTimings(json& report, const std::vector<StageRecord>& records) {
  report["timings"] = json::array();
  for (const StageRecord& record : records) {
    report["timings"].push_back({{"stage", record.name},
                                 {"seconds", record.seconds},
                                 {"cached", record.outcome == StageOutcome::kReused}});
  }
}

// report.json and report.html about one policy, in `directory`. The pages of several policies, in
// folders named after them, lie in `policies` as seen from there.
void WritePage(const ReportInputs& in, const PolicyEvaluation& evaluation,
               const std::vector<StageRecord>& records, const std::string& policies,
               RunDirectory& directory) {
  json report = MakeReport(in, evaluation);
  if (report.contains("ranking")) {
    for (json& entry : report["ranking"]) {
      entry["page"] = policies + entry["policy"].get<std::string>() + "/report.html";
    }
  }
  AddTimings(report, records);
  report["versions"] = LibraryVersions();
  directory.Write("report.json", report.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  WriteReport(directory.path());
}

void WriteRun(const ExperimentRun& run, const ReportInputs& in) {
  const std::vector<ResultRow> rows = AllRows(in.evaluations);
  WriteCsv(run.directory.File("results.csv"), rows);
  WriteJson(run.directory.File("results.json"), rows);
  WriteMetrics(run.directory,
               FitLines(in.models.dynamics_histories, "dynamics") +
                   FitLines(in.models.classifier_histories, "classifier"),
               EstimateLines(rows));

  // the first page is about the policy ranked first; each of several has one of its own as well
  const std::vector<StageRecord> records = run.cache.records();
  WritePage(in, in.evaluations.front(), records, "policies/", run.directory);
  if (in.evaluations.size() > 1) {
    run.directory.Write("pairs.csv",
                        PairsCsv(in.evaluations, in.logged, in.config.intervals.level));
    for (const PolicyEvaluation& evaluation : in.evaluations) {
      RunDirectory own(run.directory.File("policies/" + evaluation.policy.label));
      WritePage(in, evaluation, records, "../", own);
    }
  }

  Manifest manifest = ManifestOf(run, in.config.seed);
  manifest.seeds["policies"] = in.config.policies.seed;
  manifest.inputs = {{"log", in.log.hash}};
  if (in.policies.behavior) {
    manifest.inputs[in.policies.behavior->path] = in.policies.behavior->hash;
  }
  for (const PolicySource& policy : in.policies.evaluations) {
    manifest.inputs[policy.path] = policy.hash;
  }
  run.directory.WriteManifest(manifest, QuerySystem());
}

// Says what the fits will take, where nothing is fitted yet.
void SayFitTimes(const StageContext& context, const LogSource& log, const LogSplit& split,
                 std::int64_t classifiers) {
  if (context.verbosity == Verbosity::kQuiet || HasFirstFit(context, log, split)) return;
  fmt::print(stderr, "  {}\n",
             ExpectedFitsText(EstimateFits(context, log, split, classifiers), Threads()));
}

}  // namespace

Outcome RunEvaluation(const EvaluationConfig& config, const ExperimentRun& run,
                      std::optional<LogSource> given) {
  CheckConfig(config);
  // what is given as a file is checked before anything is trained
  if (!config.log.file.empty() && !given) {
    given = ReadLogFile(config.log, config.EnvironmentName(), config.seed);
  }
  const Task task = MakeTask(config, given ? &*given : nullptr);
  if (given) FitLogToTask(task, config.log.file, *given);
  const StageContext context{config, task, run.cache, run.verbosity};

  PolicySet policies = MakePolicies(context);
  LogSource log = given ? *std::move(given) : CollectLog(context, *policies.behavior);
  if (const std::string note = VersionNote(config.environment); !note.empty()) {
    log.notes.push_back(note);
  }
  if (!policies.behavior && config.back_test.enabled) {
    policies.behavior = FindBehavior(context, log);
  }
  const LogSplit split =
      SplitLog(log.log.episodes(), config.log, config.dynamics.members, config.seed);
  const std::int64_t classifiers =
      config.classifiers.instances + config.intervals.classifier_replicates;
  SayFitTimes(context, log, split, classifiers);
  const FittedModels models = FitModels(context, log, policies.behavior, split, classifiers);

  const std::optional<Backtest> logged = LoggedValue(log.log, config.value, config.value.horizon);
  std::vector<PolicyEvaluation> evaluations =
      EvaluatePolicies({context, policies, log, split, models, logged});
  Rank(evaluations);

  const std::vector<RewardCheck> rewards = CheckRewards(context, log.log, models);
  std::vector<std::optional<PolicyDifference>> from_best;
  if (evaluations.size() > 1) {
    from_best = DifferencesFromBest(evaluations, logged, config.intervals.level);
  }
  const ReportInputs in{config, task,        policies, log,         split,    models,
                        logged, evaluations, rewards,  run.command, from_best};
  WriteRun(run, in);
  std::vector<ResultRow> stated;
  for (const PolicyEvaluation& evaluation : evaluations) stated.push_back(evaluation.stated());
  const std::vector<ResultRow> rows = AllRows(evaluations);
  const bool any =
      std::ranges::any_of(rows, [](const ResultRow& row) { return row.value.has_value(); });
  return {.status = any ? 0 : 1,
          .text = ScreenText(in),
          .object = {{"stated", JsonOfRows(ResultColumns(), stated)},
                     {"results", JsonOfRows(ResultColumns(), rows)}}};
}

}  // namespace lfiw::experiments
