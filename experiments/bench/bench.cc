#include "experiments/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/run/shared_loop.h"
#include "core/run/system_info.h"
#include "experiments/bench/bench_coverage.h"
#include "experiments/bench/bench_problem.h"
#include "experiments/bench/bench_ranking.h"
#include "experiments/bench/bench_table.h"
#include "experiments/presentation/plot.h"
#include "experiments/presentation/run_outputs.h"
#include "ope/judgement/bench_metrics.h"
#include "ope/judgement/intervals.h"

namespace lfiw::experiments {
namespace {

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

// How intervals are made: kinds in order, and what they share.
struct IntervalPlan {
  std::vector<EpisodeIntervalMethod> kinds;
  EpisodeIntervalOptions options;
};

std::vector<BenchInterval> IntervalsOf(const Job& job, const Estimator& estimator,
                                       const Estimate& estimate, const IntervalPlan& plan) {
  std::vector<BenchInterval> out;
  if (!estimate.value) return out;
  if (estimate.terms.empty()) {
    if (!estimate.standard_error || !estimate.degrees) return out;
    const Interval interval =
        SpreadInterval(*estimate.value, *estimate.standard_error, *estimate.degrees,
                       estimate.covers, plan.options.level);
    out.push_back({.kind = std::string(EnumName(interval.method)),
                   .low = interval.low,
                   .high = interval.high,
                   .assumes = "covers " + interval.covers + ", not the error of the model"});
    return out;
  }
  // the ranges are those of the usual options
  const std::optional<ReturnRange> range =
      estimator.params.empty() ? job.problem->Contribution(estimator.name) : std::nullopt;
  for (const EpisodeIntervalMethod kind : plan.kinds) {
    EpisodeIntervalOptions options = plan.options;
    options.method = kind;
    EpisodeInterval interval = MakeEpisodeInterval(estimate.terms, options, range);
    out.push_back({.kind = std::string(EnumName(kind)),
                   .low = interval.low,
                   .high = interval.high,
                   .reason = std::move(interval.reason),
                   .assumes = std::move(interval.assumes),
                   .conservative = interval.conservative});
  }
  return out;
}

BenchRecord RecordOf(const Job& job, const Estimator& estimator, const Estimate& estimate,
                     const IntervalPlan& options) {
  const BenchPolicy& policy = job.problem->policies()[job.policy];
  BenchRecord record{.environment = job.problem->environment(),
                     .behavior = job.problem->behavior(),
                     .policy = policy.label,
                     .estimator = estimator.name,
                     .params = estimator.params,
                     .log_episodes = job.episodes,
                     .seed = job.seed,
                     .truth = policy.truth,
                     .truth_standard_error = policy.truth_standard_error,
                     .value = estimate.value,
                     .standard_error = estimate.standard_error,
                     .ess = estimate.ess,
                     .khat = estimate.khat,
                     .intervals = {},
                     .mismatch = {},
                     .reason = estimate.reason,
                     .notes = estimate.notes,
                     .seconds = {}};
  record.intervals = IntervalsOf(job, estimator, estimate, options);
  if (record.intervals.empty()) return record;
  if (!record.intervals.front().reason.empty()) record.reason = record.intervals.front().reason;
  return record;
}

// Time of the fits behind an estimator; none where one is not known.
std::optional<double> FitSeconds(const std::vector<FitTime>& times, const Estimator& estimator) {
  double sum = 0.0;
  for (const FitTime& time : times) {
    const bool serves =
        time.needs.empty() || std::ranges::any_of(estimator.needs, [&](const std::string& need) {
          return time.needs.contains(need);
        });
    if (!serves) continue;
    if (!time.seconds) return {};
    sum += *time.seconds;
  }
  return sum;
}

std::optional<double> MismatchOf(const EstimatorInputs& inputs) {
  const auto ratios = inputs.log_ratios.find("action");
  if (ratios == inputs.log_ratios.end()) return {};
  const double mismatch = PolicyMismatch(ratios->second, inputs.lengths);
  return std::isfinite(mismatch) ? std::optional(mismatch) : std::nullopt;
}

// What `lfiw evaluate` states, as the record of one more estimator.
BenchRecord StatedRecord(const Job& job, const StatedAnswer& answer) {
  const BenchPolicy& policy = job.problem->policies()[job.policy];
  const ResultRow& row = answer.row;
  BenchRecord record;
  record.environment = job.problem->environment();
  record.behavior = job.problem->behavior();
  record.policy = policy.label;
  record.estimator = "stated";
  record.log_episodes = job.episodes;
  record.seed = job.seed;
  record.truth = policy.truth;
  record.truth_standard_error = policy.truth_standard_error;
  record.value = row.value;
  record.standard_error = row.standard_error;
  record.ess = row.ess;
  record.khat = row.khat;
  if (row.ci_low || row.ci_high) {
    record.intervals = {{.kind = row.interval_method, .low = row.ci_low, .high = row.ci_high}};
  }
  record.reason = row.reason;
  record.verdict = row.verdict;
  record.notes = {row.estimator};
  record.seconds = answer.seconds;
  return record;
}

std::vector<BenchRecord> RunJob(const Job& job, const std::vector<Estimator>& estimators,
                                const std::set<std::string>& needs, IntervalPlan intervals,
                                bool stated) {
  const FittedInputs inputs = job.problem->Inputs(job.policy, job.episodes, job.seed, needs);
  const std::optional<double> mismatch = MismatchOf(inputs.arrays);
  intervals.options.seed = job.seed;
  std::vector<BenchRecord> records;
  for (const Estimator& estimator : estimators) {
    const auto start = std::chrono::steady_clock::now();
    const Estimate estimate = RunEstimator(estimator, inputs.arrays, job.problem->estimand());
    BenchRecord record = RecordOf(job, estimator, estimate, intervals);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    record.mismatch = mismatch;
    record.seconds = FitSeconds(inputs.times, estimator);
    if (record.seconds) *record.seconds += took.count();
    records.push_back(std::move(record));
  }
  if (!stated) return records;
  if (const auto answer = job.problem->Stated(job.policy, job.episodes, job.seed)) {
    records.push_back(StatedRecord(job, *answer));
    records.back().mismatch = mismatch;
  }
  return records;
}

IntervalPlan PlanOf(const BenchConfig& config) {
  IntervalPlan plan{config.intervals, config.interval};
  if (plan.kinds.empty()) plan.kinds = {config.interval.method};
  return plan;
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
                                 const ExperimentRun& run) {
  const std::set<std::string> needs = NeedsOf(estimators);
  std::vector<BenchRecord> records;
  const std::vector<Job> parallel = JobsOf(config, problems, BenchTasks::kParallel);
  if (!parallel.empty()) {
    std::vector<std::vector<BenchRecord>> parts(parallel.size());
    TerminalProgress progress("estimate", std::ssize(parallel), "logs", run.verbosity);
    ParallelFor(std::ssize(parallel), [&](std::int64_t i) {
      if (InterruptRequested()) throw Interrupted();
      const auto index = static_cast<std::size_t>(i);
      parts[index] = RunJob(parallel[index], estimators, needs, PlanOf(config), config.stated);
      progress.Advance(1);
    });
    for (auto& part : parts) Append(records, std::move(part));
  }
  const std::vector<Job> serial = JobsOf(config, problems, BenchTasks::kSerial);
  std::vector<std::vector<BenchRecord>> parts(serial.size());
  ShareInTurn(run.cache, std::ssize(serial), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    parts[index] = RunJob(serial[index], estimators, needs, PlanOf(config), config.stated);
  });
  for (auto& part : parts) Append(records, std::move(part));
  return records;
}

// Unless there is one policy only.
void AddMismatch(const std::string& environment, const Plot& plot,
                 std::vector<BenchFigure>& figures) {
  const bool several = std::ranges::any_of(
      plot.series, [](const PlotSeries& series) { return series.x.size() > 1; });
  if (!several) return;
  figures.push_back(
      {environment, environment.empty() ? "mismatch" : "mismatch_" + environment, RenderSvg(plot),
       "Error against the mismatch of the policies: the mean of log pi_b - log pi_e "
       "over logged steps, which estimates KL(pi_b || pi_e). Policies that cannot act "
       "as logged are left out."});
}

// Coverage by kind of interval, where there are several.
HtmlFragment CoveragePart(const std::vector<CoverageScore>& coverage, double level) {
  HtmlFragment part;
  if (coverage.empty()) return part;
  part.Heading(2, fmt::format("Intervals of {:g} %", 100.0 * level));
  part.List(Assumptions(coverage));
  HtmlFragment table;
  table.Table(CoverageTable(coverage, level));
  part.Details("Coverage by environment, estimator and kind", table);
  return part;
}

// What stands above the leaderboards, where there are several.
HtmlFragment Beginning(const std::vector<BenchRank>& ranking) {
  HtmlFragment part;
  if (!SeveralGroups(ranking)) return part;
  part.Heading(2, "Over all systems");
  part.Table(RankingTable(ranking));
  return part;
}

// What stands below the leaderboards.
HtmlFragment Ending(const std::vector<CoverageScore>& coverage, double level) {
  HtmlFragment part = CoveragePart(coverage, level);
  part.Paragraph(fmt::format("Peak memory of the program: {} MiB.", PeakMemoryBytes() >> 20));
  return part;
}

std::vector<BenchFigure> Draw(const std::vector<BenchRecord>& records,
                              const std::vector<BenchScore>& scores, bool several_sizes) {
  std::vector<BenchFigure> figures;
  try {
    AddMismatch("", MismatchPlot(records), figures);
    for (const std::string& environment : EnvironmentsOf(records)) {
      const Plot truth = TruthPlot(records, scores, environment);
      if (truth.series.size() > 1) {
        figures.push_back({environment, "truth_" + environment, RenderSvg(truth),
                           "Estimates of every log of the largest size against the true values."});
      }
      const Plot size = SizePlot(scores, environment);
      if (several_sizes && !size.series.empty()) {
        figures.push_back({environment, "size_" + environment, RenderSvg(size),
                           "Root mean square error against the size of the log."});
      }
      AddMismatch(environment, MismatchPlot(records, scores, environment), figures);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "lfiw: figures are left out: {}\n", error.what());
  }
  return figures;
}

void WriteRun(const BenchConfig& config, const ExperimentRun& run,
              const std::vector<BenchRecord>& records, const std::vector<BenchScore>& scores) {
  run.directory.Write("results.csv", BenchCsv(records));
  run.directory.Write("timings.csv", TimingsCsv(records));
  run.directory.Write("scores.csv", ScoresCsv(scores));
  const std::vector<CoverageScore> coverage = ScoreCoverage(records);
  run.directory.Write("coverage.csv", CoverageCsv(coverage, config.interval.level));
  const std::vector<BenchRank> ranking = RankEstimators(scores);
  run.directory.Write("ranking.csv", RankingColumns().Format(ranking));
  const std::vector<BenchFigure> figures = Draw(records, scores, config.log_episodes.size() > 1);
  for (const BenchFigure& figure : figures) {
    run.directory.Write("plots/" + figure.name + ".svg", figure.svg);
  }
  run.directory.Write("report.html",
                      BenchPage(scores, figures, Beginning(ranking),
                                Ending(coverage, config.interval.level), run.command));
  run.directory.WriteManifest(ManifestOf(run, config.seed), QuerySystem());
}

}  // namespace

Outcome RunBench(const BenchConfig& config, const ExperimentRun& run) {
  return RunBench(config, StandardEstimators(), run);
}

Outcome RunBench(const BenchConfig& config, const EstimatorRegistry& registry,
                 const ExperimentRun& run) {
  CheckConfig(config, registry);
  const auto problems = MakeBenchProblems(config, run.cache, run.verbosity);
  const std::vector<BenchRecord> records =
      RunJobs(config, MakeEstimators(config.estimators, registry, config.fits), problems, run);
  run.cache.EndOfStages();
  const std::vector<BenchScore> scores = ScoreBench(records);
  WriteRun(config, run, records, scores);
  const bool any = std::ranges::any_of(records, [](const auto& r) { return r.value.has_value(); });
  Outcome outcome{.status = any ? 0 : 1, .text = BenchText(scores)};
  const std::vector<BenchRank> ranking = RankEstimators(scores);
  if (SeveralGroups(ranking)) {
    outcome.text += fmt::format("over all systems\n{}\n", RankingText(ranking));
  }
  if (config.intervals.size() > 1) {
    const std::vector<CoverageScore> coverage = ScoreCoverage(records);
    outcome.text += fmt::format("{}\n{}\n\n", CoverageText(coverage, config.interval.level),
                                fmt::join(Assumptions(coverage), "\n"));
  }
  outcome.object["scores"] = JsonOfRows(ScoreColumns(), scores);
  outcome.object["ranking"] = JsonOfRows(RankingColumns(), ranking);
  outcome.object["results"] = JsonOfRows(BenchColumns(), records);
  return outcome;
}

}  // namespace lfiw::experiments
