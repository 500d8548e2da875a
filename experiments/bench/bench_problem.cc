#include "experiments/bench/bench_problem.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "core/rng.h"
#include "envs/linear_gaussian_log.h"
#include "envs/tabular_systems.h"
#include "experiments/calibration/verdict_cases.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/sources.h"
#include "ope/fits/linear_gaussian_fits.h"
#include "ope/fits/tabular_fits.h"

namespace lfiw::experiments {
namespace {

// Seconds since `start`.
double Since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Arrays that `make` makes in closed form, all at once.
template <class Make>
BenchInputs TimedInputs(const Make& make) {
  const auto start = std::chrono::steady_clock::now();
  BenchInputs out{make(), {}};
  out.times.push_back({{}, Since(start)});
  return out;
}

// A sum of discounted rewards on the scale of the estimand; closed-form systems of a finite horizon
// are always evaluated by the sum.
double ScaledTo(const Estimand& estimand, double sum) {
  return StepFactors(estimand, 1).front() * sum;
}

// The needs that a stage serves; none for what makes or describes logs and policies.
std::set<std::string> ServedBy(const std::string& stage) {
  if (stage == "linear_values") return {"mql", "mwl"};
  if (stage == "model_values") return {"model", "model_visitation"};
  if (stage == "classifier") return {"classifiers"};
  if (stage == "dynamics" || stage.starts_with("learned_")) {
    return {"model", "model_visitation", "rollouts"};
  }
  for (const char* own : {"fqe", "dual_dice", "gen_dice", "mrdr", "rollouts"}) {
    if (stage == own) return {stage};
  }
  return {};
}

ModelRolloutCounts CountsOf(const RolloutOptions& rollout) {
  return {.repetitions = rollout.repetitions, .episodes = rollout.episodes};
}

class TabularBench final : public BenchProblem {
 public:
  TabularBench(TabularProblem problem, const EstimandOptions& value, const RolloutOptions& rollout)
      : problem_(std::move(problem)), counts_(CountsOf(rollout)) {
    estimand_.discount = problem_.discount;
    estimand_.horizon = problem_.horizon;
    if (value.infinite()) estimand_ = EstimandOf(value);
    const TabularValues values =
        estimand_.horizon
            ? FiniteHorizonValues(problem_.system, problem_.evaluation, problem_.horizon,
                                  problem_.discount)
            : InfiniteHorizonValues(problem_.system, problem_.evaluation, estimand_.discount);
    policies_.push_back(
        {"evaluation", ScaledTo(estimand_, ExpectedValue(problem_.system, values)), 0.0});
    if (!estimand_.horizon) return;
    const auto range = [this](const auto& of) {
      return of(problem_.system, problem_.behavior, problem_.evaluation, problem_.horizon,
                problem_.discount);
    };
    ranges_ = {{"is", range(TrajectoryRange)}, {"pdis", range(PerDecisionRange)}};
  }

  std::string environment() const override { return problem_.name; }
  std::string behavior() const override { return "behavior"; }
  Estimand estimand() const override { return estimand_; }
  BenchTasks tasks() const override { return BenchTasks::kParallel; }
  const std::vector<BenchPolicy>& policies() const override { return policies_; }

  BenchInputs Inputs(std::size_t /*policy*/, std::int64_t episodes, std::uint64_t seed,
                     const std::set<std::string>& /*needs*/) const override {
    const TabularLog log =
        SampleLog(problem_.system, problem_.behavior, episodes, problem_.horizon,
                  Stream(seed, "bench log", {static_cast<std::uint64_t>(episodes)}));
    return TimedInputs([&] {
      return MakeTabularInputs(problem_.system, problem_.behavior, problem_.evaluation, log,
                               estimand_, counts_, seed);
    });
  }
  std::optional<ReturnRange> Contribution(const std::string& estimator) const override {
    const auto range = ranges_.find(estimator);
    return range == ranges_.end() ? std::nullopt : std::optional(range->second);
  }

 private:
  std::map<std::string, ReturnRange> ranges_;
  TabularProblem problem_;
  Estimand estimand_;
  ModelRolloutCounts counts_;
  std::vector<BenchPolicy> policies_;
};

// A random system, its behavior policy, and policies on the way from that to a random other one.
class LinearGaussianBench final : public BenchProblem {
 public:
  LinearGaussianBench(std::uint64_t seed, std::int64_t index, const EstimandOptions& value,
                      const RolloutOptions& rollout)
      : name_(fmt::format("linear_gaussian_{}", index)),
        drawn_(DrawCase(CaseKind::kGood, PlantedFailure::kNone, seed,
                        static_cast<std::uint64_t>(index))),
        counts_(CountsOf(rollout)) {
    estimand_.horizon = drawn_.horizon;
    if (value.infinite()) estimand_ = EstimandOf(value);
    for (const double share : {0.25, 0.5, 1.0, 2.0}) {
      LinearGaussianPolicy policy = drawn_.behavior;
      policy.gain += share * (drawn_.evaluation.gain - drawn_.behavior.gain);
      policy.offset += share * (drawn_.evaluation.offset - drawn_.behavior.offset);
      const QuadraticValue values =
          estimand_.horizon ? FiniteHorizonValue(drawn_.system, policy, drawn_.horizon, 1.0)
                            : InfiniteHorizonValue(drawn_.system, policy, estimand_.discount);
      const double truth =
          values.Expected(drawn_.system.initial_mean, drawn_.system.initial_covariance);
      policies_.push_back({fmt::format("{} of the way", share), ScaledTo(estimand_, truth), 0.0});
      evaluations_.push_back(std::move(policy));
    }
  }

  std::string environment() const override { return name_; }
  std::string behavior() const override { return "behavior"; }
  Estimand estimand() const override { return estimand_; }
  BenchTasks tasks() const override { return BenchTasks::kParallel; }
  const std::vector<BenchPolicy>& policies() const override { return policies_; }

  BenchInputs Inputs(std::size_t policy, std::int64_t episodes, std::uint64_t seed,
                     const std::set<std::string>& /*needs*/) const override {
    const LinearGaussianLog log =
        SampleLog(drawn_.system, drawn_.behavior, episodes, drawn_.horizon,
                  Stream(seed, "bench log", {static_cast<std::uint64_t>(episodes)}));
    return TimedInputs([&] {
      return MakeLinearGaussianInputs(drawn_.system, drawn_.behavior, evaluations_[policy], log,
                                      estimand_, counts_, seed);
    });
  }

 private:
  std::string name_;
  VerdictCase drawn_;
  Estimand estimand_;
  ModelRolloutCounts counts_;
  std::vector<LinearGaussianPolicy> evaluations_;
  std::vector<BenchPolicy> policies_;
};

class EnvironmentBench final : public BenchProblem {
 public:
  EnvironmentBench(const BenchConfig& bench, const BenchTask& task, StageCache& cache,
                   Verbosity verbosity)
      : bench_(bench), cache_(cache), verbosity_(verbosity), config_(ConfigFor(bench, task)) {
    const Task known = MakeTask(config_, nullptr);
    const StageContext context{config_, known, cache_, verbosity_};
    sources_ = MakePolicies(context);
    for (const PolicySource& policy : sources_.evaluations) {
      const MonteCarloEstimate truth = MakeTruth(context, policy);
      policies_.push_back({policy.label, truth.value, truth.standard_error});
    }
  }

  std::string environment() const override { return config_.environment; }
  std::string behavior() const override { return sources_.behavior->label; }
  Estimand estimand() const override { return EstimandOf(config_.value); }
  BenchTasks tasks() const override { return BenchTasks::kSerial; }
  const std::vector<BenchPolicy>& policies() const override { return policies_; }

  BenchInputs Inputs(std::size_t policy, std::int64_t episodes, std::uint64_t seed,
                     const std::set<std::string>& needs) const override {
    const std::size_t before = cache_.records().size();
    EvaluationConfig config = config_;
    config.log.episodes = episodes;
    config.seed = seed;
    const Task task = MakeTask(config, nullptr);
    const StageContext context{config, task, cache_, verbosity_};
    const LogSource log = CollectLog(context, *sources_.behavior);
    const LogSplit split =
        SplitLog(log.log.episodes(), config.log, config.dynamics.members, config.seed);
    std::optional<FittedModels> models;
    if (NeedsModel(needs)) {
      models = FitModels(context, log, split, config.classifiers.instances);
    }
    const EstimatorSources sources{.context = context,
                                   .options = bench_.fits,
                                   .log = log,
                                   .split = split,
                                   .models = models ? &*models : nullptr,
                                   .policy = sources_.evaluations[policy],
                                   .behavior = sources_.behavior};
    BenchInputs out{MakeEstimatorInputs(sources, CorrectionEpisodes(sources), needs), {}};
    const std::vector<StageRecord> records = cache_.records();
    for (std::size_t k = before; k < records.size(); ++k) {
      std::set<std::string> served = ServedBy(records[k].name);
      if (!served.empty()) out.times.push_back({std::move(served), records[k].computed_seconds});
    }
    return out;
  }

 private:
  static bool NeedsModel(const std::set<std::string>& needs) {
    return needs.contains("model") || needs.contains("model_visitation") ||
           needs.contains("rollouts");
  }
  static EvaluationConfig ConfigFor(const BenchConfig& bench, const BenchTask& task) {
    EvaluationConfig config = DefaultsOf(Preset::kRobust);
    config.seed = bench.seed;
    config.environment = task.environment;
    config.policies = task.policies;
    config.value = bench.value;
    config.log = bench.log;
    config.dynamics = bench.dynamics;
    config.classifiers = bench.classifiers;
    config.rollout = bench.rollout;
    config.truth = bench.truth;
    CheckConfig(config);
    return config;
  }

  const BenchConfig& bench_;
  StageCache& cache_;
  Verbosity verbosity_;
  EvaluationConfig config_;
  PolicySet sources_;
  std::vector<BenchPolicy> policies_;
};

}  // namespace

std::vector<std::unique_ptr<BenchProblem>> MakeBenchProblems(const BenchConfig& config,
                                                             StageCache& cache,
                                                             Verbosity verbosity) {
  std::vector<std::unique_ptr<BenchProblem>> problems;
  for (const std::string& name : config.tabular) {
    problems.push_back(
        std::make_unique<TabularBench>(FindTabularProblem(name), config.value, config.rollout));
  }
  for (std::int64_t i = 0; i < config.linear_gaussian; ++i) {
    problems.push_back(
        std::make_unique<LinearGaussianBench>(config.seed, i, config.value, config.rollout));
  }
  for (const BenchTask& task : config.tasks) {
    problems.push_back(std::make_unique<EnvironmentBench>(config, task, cache, verbosity));
  }
  return problems;
}

}  // namespace lfiw::experiments
