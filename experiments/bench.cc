#include "experiments/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/system_info.h"
#include "experiments/bench_problem.h"
#include "experiments/bench_table.h"
#include "experiments/plot.h"
#include "experiments/versions.h"

namespace lfiw {
namespace {

std::vector<Estimator> Chosen(const BenchConfig& config, const EstimatorRegistry& registry) {
  if (config.estimators.empty()) return {registry.all().begin(), registry.all().end()};
  std::vector<Estimator> chosen;
  for (const std::string& name : config.estimators) chosen.push_back(registry.Find(name));
  return chosen;
}

std::set<std::string> NeedsOf(const std::vector<Estimator>& estimators) {
  std::set<std::string> needs;
  for (const Estimator& estimator : estimators) {
    needs.insert(estimator.needs.begin(), estimator.needs.end());
  }
  // estimators that choose their weights use action ratios where there are any
  needs.insert("action");
  return needs;
}

// One log and one policy: what all estimators say.
struct Job {
  const BenchProblem* problem;
  std::size_t policy;
  std::int64_t episodes;
  std::uint64_t seed;
};

BenchRecord RecordOf(const Job& job, const Estimator& estimator, const Estimate& estimate,
                     const EpisodeIntervalOptions& options) {
  const BenchPolicy& policy = job.problem->policies()[job.policy];
  BenchRecord record{.environment = job.problem->environment(),
                     .behavior = job.problem->behavior(),
                     .policy = policy.label,
                     .estimator = estimator.name,
                     .log_episodes = job.episodes,
                     .seed = job.seed,
                     .truth = policy.truth,
                     .truth_standard_error = policy.truth_standard_error,
                     .value = estimate.value,
                     .standard_error = estimate.standard_error,
                     .ci_low = {},
                     .ci_high = {},
                     .ess = estimate.ess,
                     .khat = estimate.khat,
                     .reason = estimate.reason,
                     .notes = estimate.notes};
  if (!estimate.value || estimate.terms.empty()) return record;
  const EpisodeInterval interval = MakeEpisodeInterval(estimate.terms, options);
  record.ci_low = interval.low;
  record.ci_high = interval.high;
  if (!interval.reason.empty()) record.reason = interval.reason;
  return record;
}

std::vector<BenchRecord> RunJob(const Job& job, const std::vector<Estimator>& estimators,
                                const std::set<std::string>& needs,
                                const EpisodeIntervalOptions& options) {
  const EstimatorInputs inputs = job.problem->Inputs(job.policy, job.episodes, job.seed, needs);
  EpisodeIntervalOptions interval = options;
  interval.seed = job.seed;
  std::vector<BenchRecord> records;
  for (const Estimator& estimator : estimators) {
    const Estimate estimate = RunEstimator(estimator, inputs, job.problem->estimand());
    records.push_back(RecordOf(job, estimator, estimate, interval));
  }
  return records;
}

std::vector<Job> JobsOf(const BenchConfig& config,
                        const std::vector<std::unique_ptr<BenchProblem>>& problems,
                        BenchTasks tasks) {
  std::vector<Job> jobs;
  for (const auto& problem : problems) {
    if (problem->tasks() != tasks) continue;
    for (const std::int64_t episodes : config.log_episodes) {
      for (std::int64_t s = 0; s < config.seeds; ++s) {
        for (std::size_t policy = 0; policy < problem->policies().size(); ++policy) {
          jobs.push_back(
              {problem.get(), policy, episodes, config.seed + static_cast<std::uint64_t>(s)});
        }
      }
    }
  }
  return jobs;
}

void Append(std::vector<BenchRecord>& to, std::vector<BenchRecord> from) {
  std::ranges::move(from, std::back_inserter(to));
}

std::vector<BenchRecord> RunJobs(const BenchConfig& config,
                                 const std::vector<Estimator>& estimators,
                                 const std::vector<std::unique_ptr<BenchProblem>>& problems,
                                 Verbosity verbosity) {
  const std::set<std::string> needs = NeedsOf(estimators);
  std::vector<BenchRecord> records;
  const std::vector<Job> parallel = JobsOf(config, problems, BenchTasks::kParallel);
  if (!parallel.empty()) {
    std::vector<std::vector<BenchRecord>> parts(parallel.size());
    TerminalProgress progress("estimate", std::ssize(parallel), "logs", verbosity);
    ParallelFor(std::ssize(parallel), [&](std::int64_t i) {
      if (InterruptRequested()) throw Interrupted();
      const auto index = static_cast<std::size_t>(i);
      parts[index] = RunJob(parallel[index], estimators, needs, config.interval);
      progress.Advance(1);
    });
    for (auto& part : parts) Append(records, std::move(part));
  }
  for (const Job& job : JobsOf(config, problems, BenchTasks::kSerial)) {
    Append(records, RunJob(job, estimators, needs, config.interval));
  }
  return records;
}

std::vector<BenchFigure> Draw(const std::vector<BenchRecord>& records,
                              const std::vector<BenchScore>& scores, bool several_sizes) {
  std::vector<BenchFigure> figures;
  try {
    for (const std::string& environment : EnvironmentsOf(records)) {
      const Plot truth = TruthPlot(records, scores, environment);
      if (truth.series.size() > 1) {
        figures.push_back({"truth_" + environment, RenderSvg(truth),
                           "Estimates of every log of the largest size against the true values."});
      }
      const Plot size = SizePlot(scores, environment);
      if (several_sizes && !size.series.empty()) {
        figures.push_back({"size_" + environment, RenderSvg(size),
                           "Root mean square error against the size of the log."});
      }
    }
  } catch (const Error& error) {
    fmt::print(stderr, "lfiw: figures are left out: {}\n", error.what());
  }
  return figures;
}

void WriteRun(const BenchConfig& config, const ExperimentRun& run,
              const std::vector<BenchRecord>& records, const std::vector<BenchScore>& scores) {
  run.directory.Write("results.csv", BenchCsv(records));
  run.directory.Write("scores.csv", ScoresCsv(scores));
  const std::vector<BenchFigure> figures = Draw(records, scores, config.log_episodes.size() > 1);
  for (const BenchFigure& figure : figures) {
    run.directory.Write("plots/" + figure.name + ".svg", figure.svg);
  }
  run.directory.Write("report.html", BenchPage(scores, figures, run.command));
  Manifest manifest;
  manifest.command = run.command;
  manifest.libraries = LibraryVersions();
  manifest.seeds = {{"run", config.seed}};
  manifest.stages = run.cache.records();
  manifest.threads = Threads();
  run.directory.WriteManifest(manifest, QuerySystem());
}

}  // namespace

int RunBench(const BenchConfig& config, const ExperimentRun& run) {
  return RunBench(config, StandardEstimators(), run);
}

int RunBench(const BenchConfig& config, const EstimatorRegistry& registry,
             const ExperimentRun& run) {
  CheckConfig(config);
  const auto problems = MakeBenchProblems(config, run.cache, run.verbosity);
  const std::vector<BenchRecord> records =
      RunJobs(config, Chosen(config, registry), problems, run.verbosity);
  const std::vector<BenchScore> scores = ScoreBench(records);
  WriteRun(config, run, records, scores);
  if (run.verbosity != Verbosity::kQuiet) {
    fmt::print("{}report: {}\n", BenchText(scores), run.directory.File("report.html"));
  }
  const bool any = std::ranges::any_of(records, [](const auto& r) { return r.value.has_value(); });
  return any ? 0 : 1;
}

}  // namespace lfiw
