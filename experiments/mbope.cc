#include "experiments/mbope.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/result_table.h"
#include "core/system_info.h"
#include "experiments/mbope_report.h"
#include "experiments/mbope_results.h"
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

// Reruns everything from the split on, on resampled episodes.
std::vector<Replicate> PipelineBootstrap(const StageContext& context, const LogSource& log,
                                         const PolicySource& evaluation, const LogSplit& split) {
  std::vector<Replicate> replicates;
  for (std::int64_t b = 0; b < context.config.intervals.pipeline_replicates; ++b) {
    const LogSplit resampled =
        ResampleLog(split, context.config.seed, static_cast<std::uint64_t>(b));
    const FittedModels models =
        FitModels(context, log, evaluation, resampled, context.config.classifiers.instances);
    replicates.push_back(
        {EstimatePlainModel(models.rollouts.rewards, context.config.value),
         RunEstimatorGrid(context.config.estimators, models.rollouts, context.config.value)});
  }
  return replicates;
}

// Classifiers that the bootstrap needs beyond the instances of the table come after them.
MbopeMeasurements Measure(const StageContext& context, const FittedModels& models) {
  const MbopeConfig& config = context.config;
  const std::int64_t instances = config.classifiers.instances;
  const std::int64_t replicates = config.intervals.classifier_replicates;
  const ModelRollouts table = TakeClassifiers(models.rollouts, 0, instances);
  MbopeMeasurements measured;
  measured.plain = EstimatePlainModel(table.rewards, config.value);
  measured.sweeps = RunEstimatorGrid(config.estimators, table, config.value);
  measured.mean_weights = MeanWeights(table.log_weights);
  measured.calibration = CalibrationOf(models);
  measured.improvement = CheckImprovement(models.held_out_real, models.held_out_generated);
  measured.clamp_rate = models.rollouts.ClampRate();
  if (replicates > 0) {
    measured.classifier_replicates = RunEstimatorGrid(
        config.estimators, TakeClassifiers(models.rollouts, instances, replicates), config.value);
  }
  return measured;
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

void WriteRun(const MbopeRun& run, const ReportInputs& in, const std::string& log_hash) {
  WriteCsv(run.directory.File("results.csv"), in.rows);
  WriteJson(run.directory.File("results.json"), in.rows);
  run.directory.Write("metrics.jsonl",
                      MetricLines(in.models.dynamics_report["history"], "dynamics", "member") +
                          MetricLines(in.models.classifier_history, "classifier", "index"));

  const std::vector<StageRecord> records = run.cache.records();
  json report = MakeReport(in);
  AddTimings(report, records);
  report["versions"] = LibraryVersions();
  run.directory.Write("report.json", report.dump(1) + "\n");
  WriteReport(run.directory.path());

  Manifest manifest;
  manifest.command = run.command;
  manifest.libraries = LibraryVersions();
  manifest.seeds = {{"run", in.config.seed}, {"policies", in.config.policies.seed}};
  manifest.inputs = {{in.policies.behavior.path, in.policies.behavior.hash},
                     {in.policies.evaluation.path, in.policies.evaluation.hash},
                     {"log", log_hash}};
  manifest.stages = records;
  manifest.threads = Threads();
  run.directory.WriteManifest(manifest, QuerySystem());
}

void PrintResult(const MbopeRun& run, const ReportInputs& in) {
  if (run.verbosity == Verbosity::kQuiet) return;
  if (in.measured.truth) {
    fmt::print("truth {:.2f} +- {:.2f} ({} episodes)\n", in.measured.truth->value,
               in.measured.truth->standard_error, in.measured.truth->episodes);
  }
  fmt::print("{}", FormatForTerminal(TableRows(in)));
  fmt::print("report: {}\n", run.directory.File("report.html"));
}

}  // namespace

void CheckConfig(const MbopeConfig& config) {
  std::vector<std::string> problems;
  const EstimatorGrid& grid = config.estimators;
  for (const std::int64_t h : grid.horizons) {
    if (h > config.value.horizon) {
      problems.push_back(fmt::format("estimators.horizons: {} is beyond value.horizon = {}", h,
                                     config.value.horizon));
    }
  }
  if (grid.variants.empty() || grid.normalizations.empty() || grid.alphas.empty() ||
      grid.betas.empty() || grid.averages.empty()) {
    problems.emplace_back("estimators: every list needs at least one entry");
  }
  const bool files = config.policies.pair == PolicyPair::kFiles;
  if (files && (config.policies.behavior_file.empty() || config.policies.evaluation_file.empty())) {
    problems.emplace_back("policies: pair 'files' needs behavior_file and evaluation_file");
  }
  if (config.policies.pair == PolicyPair::kSnapshots &&
      config.policies.behavior_steps > config.policies.evaluation_steps) {
    problems.emplace_back("policies.behavior_steps: a snapshot cannot come after evaluation_steps");
  }
  if (config.log.cross_fit == 1 || config.log.cross_fit > config.dynamics.members) {
    problems.push_back(fmt::format("log.cross_fit: {} folds need 2 .. dynamics.members = {}",
                                   config.log.cross_fit, config.dynamics.members));
  }
  if (!problems.empty()) throw ConfigError(fmt::format("{}", fmt::join(problems, "\n")));
}

int RunMbope(const MbopeConfig& config, const MbopeRun& run) {
  CheckConfig(config);
  const std::shared_ptr<const EnvFactory> env = FindEnv(config.environment);
  const StageContext context{config, *env, run.cache, run.verbosity};

  // what is given as a file is checked before anything is trained
  std::optional<LogSource> given;
  if (!config.log.file.empty()) given = OpenLog(context, config.log.file);
  const PolicySet policies = MakePolicies(context);
  const LogSource log = given ? *std::move(given) : CollectLog(context, policies.behavior);
  const LogSplit split =
      SplitLog(log.log.episodes(), config.log, config.dynamics.members, config.seed);
  const FittedModels models =
      FitModels(context, log, policies.evaluation, split,
                config.classifiers.instances + config.intervals.classifier_replicates);

  MbopeMeasurements measured = Measure(context, models);
  measured.pipeline_replicates = PipelineBootstrap(context, log, policies.evaluation, split);
  if (config.truth.enabled) measured.truth = MakeTruth(context, policies.evaluation);

  const RowLabels labels{env->spec().name, policies.evaluation.hash.substr(0, 12)};
  const std::vector<ResultRow> rows = MakeRows(config, labels, measured);
  const std::vector<RewardCheck> rewards = CheckRewards(*env, log.log);
  const ReportInputs in{config, env->spec(), policies, log.log, split,
                        models, measured,    rows,     rewards, run.command};
  WriteRun(run, in, log.hash);
  PrintResult(run, in);

  const bool any = std::any_of(rows.begin(), rows.end(),
                               [](const ResultRow& row) { return row.value.has_value(); });
  return any ? 0 : 1;
}

}  // namespace lfiw
