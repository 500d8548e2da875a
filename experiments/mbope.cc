#include "experiments/mbope.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/result_table.h"
#include "core/system_info.h"
#include "experiments/mbope_inputs.h"
#include "experiments/mbope_report.h"
#include "experiments/mbope_results.h"
#include "experiments/mbope_screen.h"
#include "experiments/mbope_stages.h"
#include "experiments/report.h"
#include "experiments/versions.h"

namespace lfiw {
namespace {

using nlohmann::json;

// Labelled logits of the held-out transitions: real ones are the positive class.
Calibration CalibrationOf(const FittedModels& models) {
  std::vector<double> logits = models.held_out_real;
  logits.insert(logits.end(), models.held_out_generated.begin(), models.held_out_generated.end());
  std::vector<std::uint8_t> labels(logits.size(), 0);
  std::fill_n(labels.begin(), models.held_out_real.size(), 1);
  return MeasureCalibration(logits, labels);
}

// The log-weights of the first `count` classifiers, or of those from `first` on.
ModelRollouts TakeClassifiers(const ModelRollouts& rollouts, std::int64_t first,
                              std::int64_t count) {
  const auto& shape = rollouts.log_weights.shape();
  ModelRollouts out = rollouts;
  out.log_weights = Array<double, 4>({shape[0], count, shape[2], shape[3]});
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t i = 0; i < shape[2]; ++i) {
        const auto row = rollouts.log_weights.Row(r, first + c, i);
        std::copy(row.begin(), row.end(), out.log_weights.Row(r, c, i).begin());
      }
    }
  }
  return out;
}

// What all evaluated policies share.
struct Evaluator {
  const StageContext& context;
  const LogSource& log;
  const LogSplit& split;
  const FittedModels& models;
  const Calibration calibration;
  const ImprovementCheck improvement;

  ReturnRange Possible() const {
    const bool may_end = context.config.task.termination != TerminationSource::kNone;
    return PossibleReturns(log.log, context.config.value, context.config.value.horizon,
                           may_end ? EpisodeEnd::kMayBeEarlier : EpisodeEnd::kAtHorizon);
  }

  // Classifiers that the bootstrap needs beyond the instances of the table come after them.
  MbopeMeasurements Measure(const ModelRollouts& rollouts) const {
    const MbopeConfig& config = context.config;
    const std::int64_t instances = config.classifiers.instances;
    const std::int64_t replicates = config.intervals.classifier_replicates;
    const ModelRollouts table = TakeClassifiers(rollouts, 0, instances);
    MbopeMeasurements measured;
    measured.plain = EstimatePlainModel(table.rewards, config.value);
    measured.sweeps = RunEstimatorGrid(config.estimators, table, config.value);
    measured.mean_weights = MeanWeights(table.log_weights);
    measured.calibration = calibration;
    measured.improvement = improvement;
    measured.clamp_rate = rollouts.ClampRate();
    measured.possible = Possible();
    measured.support = MeasureSupport(log.log, rollouts.visited_states, rollouts.visited_actions,
                                      config.support, config.seed);
    if (replicates > 0) {
      measured.classifier_replicates = RunEstimatorGrid(
          config.estimators, TakeClassifiers(rollouts, instances, replicates), config.value);
    }
    return measured;
  }

  PolicyEvaluation Evaluate(const PolicySource& policy) const {
    const ModelRollouts rollouts = RollOut(context, log, models, policy);
    return {.policy = policy,
            .clamped_values = rollouts.clamped_values,
            .predicted_values = rollouts.predicted_values,
            .measured = Measure(rollouts),
            .rows = {}};
  }

  void MakeRowsOf(PolicyEvaluation& evaluation) const {
    const RowLabels labels{context.task.spec.name, evaluation.policy.label};
    evaluation.rows = MakeRows(context.config, labels, evaluation.measured);
  }
};

// Reruns everything from the split on, on resampled episodes, and adds what comes of it to the
// evaluations.
void PipelineBootstrap(const StageContext& context, const LogSource& log, const LogSplit& split,
                       std::vector<PolicyEvaluation>& evaluations) {
  for (std::int64_t b = 0; b < context.config.intervals.pipeline_replicates; ++b) {
    const LogSplit resampled =
        ResampleLog(split, context.config.seed, static_cast<std::uint64_t>(b));
    const FittedModels models =
        FitModels(context, log, resampled, context.config.classifiers.instances);
    for (PolicyEvaluation& evaluation : evaluations) {
      const ModelRollouts rollouts = RollOut(context, log, models, evaluation.policy);
      evaluation.measured.pipeline_replicates.push_back(
          {EstimatePlainModel(rollouts.rewards, context.config.value),
           RunEstimatorGrid(context.config.estimators, rollouts, context.config.value)});
    }
  }
}

// The same method on the policy that wrote the log.
std::optional<BackTest> RunBackTest(const Evaluator& evaluator, const PolicySet& policies,
                                    const std::optional<BackTest>& logged) {
  if (!evaluator.context.config.back_test.enabled || !policies.behavior || !logged) return {};
  PolicyEvaluation behavior = evaluator.Evaluate(*policies.behavior);
  evaluator.MakeRowsOf(behavior);
  const ResultRow& row = behavior.stated();
  if (!row.value) return {};
  BackTest test = *logged;
  test.estimate = *row.value;
  test.estimate_stderr = row.standard_error;
  return test;
}

// Best first by the stated estimate; policies without one come last.
void Rank(std::vector<PolicyEvaluation>& evaluations) {
  std::stable_sort(evaluations.begin(), evaluations.end(),
                   [](const PolicyEvaluation& a, const PolicyEvaluation& b) {
                     return a.stated().value.value_or(-HUGE_VAL) >
                            b.stated().value.value_or(-HUGE_VAL);
                   });
}

// Learning curves as lines of metrics.jsonl.
std::string MetricLines(const json& histories, const std::string& kind, const std::string& index) {
  std::string lines;
  for (const json& history : histories) {
    for (std::size_t i = 0; i < history["step"].size(); ++i) {
      const json line = {{"series", fmt::format("{} {}", kind, history[index].get<int>())},
                         {"step", history["step"][i]},
                         {"train_loss", history["train"][i]},
                         {"validation_loss", history["validation"][i]}};
      lines += line.dump() + "\n";
    }
  }
  return lines;
}

void AddTimings(json& report, const std::vector<StageRecord>& records) {
  report["timings"] = json::array();
  for (const StageRecord& record : records) {
    report["timings"].push_back({{"stage", record.name},
                                 {"seconds", record.seconds},
                                 {"cached", record.outcome == StageOutcome::kReused}});
  }
}

// report.json and report.html about one policy, in `directory`.
void WritePage(const ReportInputs& in, const PolicyEvaluation& evaluation,
               const std::vector<StageRecord>& records, RunDirectory& directory) {
  json report = MakeReport(in, evaluation);
  AddTimings(report, records);
  report["versions"] = LibraryVersions();
  directory.Write("report.json", report.dump(1) + "\n");
  WriteReport(directory.path());
}

void WriteRun(const MbopeRun& run, const ReportInputs& in) {
  std::vector<ResultRow> rows;
  for (const PolicyEvaluation& evaluation : in.evaluations) {
    rows.insert(rows.end(), evaluation.rows.begin(), evaluation.rows.end());
  }
  WriteCsv(run.directory.File("results.csv"), rows);
  WriteJson(run.directory.File("results.json"), rows);
  run.directory.Write("metrics.jsonl",
                      MetricLines(in.models.dynamics_report["history"], "dynamics", "member") +
                          MetricLines(in.models.classifier_history, "classifier", "index"));

  // the first page is about the policy ranked first; each of several has one of its own as well
  const std::vector<StageRecord> records = run.cache.records();
  WritePage(in, in.evaluations.front(), records, run.directory);
  if (in.evaluations.size() > 1) {
    for (const PolicyEvaluation& evaluation : in.evaluations) {
      RunDirectory own(run.directory.File("policies/" + evaluation.policy.label));
      WritePage(in, evaluation, records, own);
    }
  }

  Manifest manifest;
  manifest.command = run.command;
  manifest.libraries = LibraryVersions();
  manifest.seeds = {{"run", in.config.seed}, {"policies", in.config.policies.seed}};
  manifest.inputs = {{"log", in.log.hash}};
  if (in.policies.behavior) {
    manifest.inputs[in.policies.behavior->path] = in.policies.behavior->hash;
  }
  for (const PolicySource& policy : in.policies.evaluations) {
    manifest.inputs[policy.path] = policy.hash;
  }
  manifest.stages = records;
  manifest.threads = Threads();
  run.directory.WriteManifest(manifest, QuerySystem());
}

}  // namespace

int RunMbope(const MbopeConfig& config, const MbopeRun& run, std::optional<LogSource> given) {
  CheckConfig(config);
  // what is given as a file is checked before anything is trained
  if (!config.log.file.empty() && !given) {
    given = ReadLogFile(config.log, config.environment, config.seed);
  }
  const Task task = MakeTask(config, given ? &*given : nullptr);
  if (given) FitLogToTask(task, config.log.file, *given);
  const StageContext context{config, task, run.cache, run.verbosity};

  PolicySet policies = MakePolicies(context);
  const LogSource log = given ? *std::move(given) : CollectLog(context, *policies.behavior);
  if (!policies.behavior && config.back_test.enabled) {
    policies.behavior = FindBehavior(context, log);
  }
  const LogSplit split =
      SplitLog(log.log.episodes(), config.log, config.dynamics.members, config.seed);
  const FittedModels models = FitModels(
      context, log, split, config.classifiers.instances + config.intervals.classifier_replicates);

  const Evaluator evaluator{context,
                            log,
                            split,
                            models,
                            CalibrationOf(models),
                            CheckImprovement(models.held_out_real, models.held_out_generated)};
  std::vector<PolicyEvaluation> evaluations;
  for (const PolicySource& policy : policies.evaluations) {
    evaluations.push_back(evaluator.Evaluate(policy));
  }
  PipelineBootstrap(context, log, split, evaluations);
  const std::optional<BackTest> logged = LoggedValue(log.log, config.value, config.value.horizon);
  const std::optional<BackTest> back_test = RunBackTest(evaluator, policies, logged);
  for (PolicyEvaluation& evaluation : evaluations) {
    evaluation.measured.back_test = back_test;
    if (config.truth.enabled) evaluation.measured.truth = MakeTruth(context, evaluation.policy);
    evaluator.MakeRowsOf(evaluation);
  }
  Rank(evaluations);

  const std::vector<RewardCheck> rewards = CheckRewards(context, log.log, models);
  const ReportInputs in{config, task,   policies,    log,     split,
                        models, logged, evaluations, rewards, run.command};
  WriteRun(run, in);
  if (run.verbosity != Verbosity::kQuiet) {
    fmt::print("{}report: {}\n", ScreenText(in), run.directory.File("report.html"));
  }

  const bool any =
      std::any_of(evaluations.begin(), evaluations.end(), [](const PolicyEvaluation& evaluation) {
        return std::any_of(evaluation.rows.begin(), evaluation.rows.end(),
                           [](const ResultRow& row) { return row.value.has_value(); });
      });
  return any ? 0 : 1;
}

}  // namespace lfiw
