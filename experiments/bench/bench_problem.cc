#include "experiments/bench/bench_problem.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/rng.h"
#include "core/run/shared_loop.h"
#include "envs/linear_gaussian_log.h"
#include "envs/tabular_systems.h"
#include "experiments/calibration/verdict_cases.h"
#include "experiments/evaluation/estimator_inputs.h"
#include "experiments/evaluation/fit_models.h"
#include "experiments/evaluation/fit_stage.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/model_stages.h"
#include "experiments/evaluation/policy_evaluation.h"
#include "experiments/evaluation/sources.h"
#include "ope/fits/closed_form_inputs.h"
#include "ope/fits/linear_gaussian_fits.h"
#include "ope/fits/tabular_fits.h"

namespace lfiw::experiments {
namespace {

// What estimators need of a log in a closed-form system; `make` makes the source of the fits, whose
// time all of them share.
template <class Make>
FittedInputs ClosedFormInputs(const Make& make, const FitRegistry& fits,
                              const std::set<std::string>& needs) {
  const auto start = std::chrono::steady_clock::now();
  const auto source = make();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  FittedInputs out = MakeInputs(source, fits, needs);
  out.times.push_back({{}, took.count()});
  return out;
}

// A sum of discounted rewards on the scale of the estimand; closed-form systems of a finite horizon
// are always evaluated by the sum.
double ScaledTo(const Estimand& estimand, double sum) {
  return StepFactors(estimand, 1).front() * sum;
}

// The times of the model behind fits that read it, from number `first` of the cache's records on:
// classifiers count to what needs them, reward and termination to all.
void AddModelTimes(const StageCache& cache, std::size_t first, const FitRegistry& fits,
                   std::vector<FitTime>& times) {
  std::set<std::string> served;
  for (const FitMethod& fit : fits.all()) {
    if (fit.Reads(FitReads::kDynamics)) served.insert(fit.provides.begin(), fit.provides.end());
  }
  const std::vector<StageRecord> records = cache.records();
  for (std::size_t k = first; k < records.size(); ++k) {
    const StageRecord& record = records[k];
    if (record.name == ClassifierStage::kInfo.name) {
      times.push_back({{"classifiers"}, record.computed_seconds});
    } else if (record.name == DynamicsMemberStage::kInfo.name ||
               record.name == DynamicsStage::kInfo.name ||
               record.name == LearnedFunctionStage::kInfo.name) {
      times.push_back({served, record.computed_seconds});
    }
  }
}

ModelRolloutCounts CountsOf(const RolloutOptions& rollout) {
  return {.repetitions = rollout.repetitions, .episodes = rollout.episodes};
}

class TabularBench final : public BenchProblem {
 public:
  TabularBench(TabularProblem problem, const BenchConfig& bench)
      : problem_(std::move(problem)), fits_(bench.fits), counts_(CountsOf(bench.rollout)) {
    const EstimandOptions& value = bench.value;
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

  FittedInputs Inputs(std::size_t /*policy*/, std::int64_t episodes, std::uint64_t seed,
                      const std::set<std::string>& needs) const override {
    const TabularLog log =
        SampleLog(problem_.system, problem_.behavior, episodes, problem_.horizon,
                  Stream(seed, "bench log", {static_cast<std::uint64_t>(episodes)}));
    return ClosedFormInputs(
        [&] {
          return TabularSource(problem_.system, problem_.behavior, problem_.evaluation, log,
                               estimand_, counts_, seed);
        },
        fits_, needs);
  }
  std::optional<ReturnRange> Contribution(const std::string& estimator) const override {
    const auto range = ranges_.find(estimator);
    return range == ranges_.end() ? std::nullopt : std::optional(range->second);
  }

 private:
  std::map<std::string, ReturnRange> ranges_;
  TabularProblem problem_;
  const FitRegistry& fits_;
  Estimand estimand_;
  ModelRolloutCounts counts_;
  std::vector<BenchPolicy> policies_;
};

// A random system, its behavior policy, and policies on the way from that to a random other one.
class LinearGaussianBench final : public BenchProblem {
 public:
  LinearGaussianBench(const BenchConfig& bench, std::int64_t index)
      : name_(fmt::format("linear_gaussian_{}", index)),
        drawn_(DrawCase(CaseKind::kGood, PlantedFailure::kNone, bench.seed,
                        static_cast<std::uint64_t>(index))),
        fits_(bench.fits),
        counts_(CountsOf(bench.rollout)) {
    const EstimandOptions& value = bench.value;
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

  FittedInputs Inputs(std::size_t policy, std::int64_t episodes, std::uint64_t seed,
                      const std::set<std::string>& needs) const override {
    const LinearGaussianLog log =
        SampleLog(drawn_.system, drawn_.behavior, episodes, drawn_.horizon,
                  Stream(seed, "bench log", {static_cast<std::uint64_t>(episodes)}));
    return ClosedFormInputs(
        [&] {
          return LinearGaussianSource(drawn_.system, drawn_.behavior, evaluations_[policy], log,
                                      estimand_, counts_, seed);
        },
        fits_, needs);
  }

 private:
  std::string name_;
  VerdictCase drawn_;
  const FitRegistry& fits_;
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
    task_ = MakeTask(config_, nullptr);
    const StageContext context{config_, task_, cache_, verbosity_};
    sources_ = MakePolicies(context);
    policies_.resize(sources_.evaluations.size());
    ShareInTurn(cache_, std::ssize(policies_), [&](std::int64_t i) {
      const PolicySource& policy = sources_.evaluations[static_cast<std::size_t>(i)];
      const MonteCarloEstimate truth = MakeTruth(context, policy);
      policies_[static_cast<std::size_t>(i)] = {policy.label, truth.value, truth.standard_error};
    });
  }

  std::string environment() const override { return config_.environment; }
  std::string behavior() const override { return sources_.behavior->label; }
  Estimand estimand() const override { return EstimandOf(config_.value); }
  BenchTasks tasks() const override { return BenchTasks::kSerial; }
  const std::vector<BenchPolicy>& policies() const override { return policies_; }

  FittedInputs Inputs(std::size_t policy, std::int64_t episodes, std::uint64_t seed,
                      const std::set<std::string>& needs) const override {
    const EvaluationConfig config = ConfigOf(episodes, seed);
    const StageContext context{config, task_, cache_, verbosity_};
    const LogSource log = CollectLog(context, *sources_.behavior);
    const LogSplit split =
        SplitLog(log.log.episodes(), config.log, config.dynamics.members, config.seed);
    std::optional<FittedModels> models;
    std::vector<FitTime> times;
    if (NeedDynamics(bench_.fits, needs)) {
      const std::size_t before = cache_.records().size();
      models = FitModels(context, log, sources_.behavior, split, config.classifiers.instances);
      AddModelTimes(cache_, before, bench_.fits, times);
    }
    const EstimatorSources sources{.context = context,
                                   .fits = bench_.fits,
                                   .log = log,
                                   .split = split,
                                   .models = models ? &*models : nullptr,
                                   .policy = sources_.evaluations[policy],
                                   .behavior = sources_.behavior};
    FittedInputs out = MakeEstimatorInputs(sources, CorrectionEpisodes(sources), needs);
    out.times.insert(out.times.end(), times.begin(), times.end());
    return out;
  }

  std::optional<StatedAnswer> Stated(std::size_t policy, std::int64_t episodes,
                                     std::uint64_t seed) const override {
    const auto key = std::tuple(episodes, seed);
    auto found = stated_.find(key);
    if (found == stated_.end()) found = stated_.emplace(key, EvaluateLog(episodes, seed)).first;
    return found->second[policy];
  }

 private:
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

  EvaluationConfig ConfigOf(std::int64_t episodes, std::uint64_t seed) const {
    EvaluationConfig config = config_;
    config.log.episodes = episodes;
    config.seed = seed;
    return config;
  }

  // All policies from one log, by what `lfiw evaluate` does with its defaults.
  std::vector<StatedAnswer> EvaluateLog(std::int64_t episodes, std::uint64_t seed) const {
    EvaluationConfig config = ConfigOf(episodes, seed);
    config.log.cross_fit = DefaultsOf(Preset::kRobust).log.cross_fit;
    const StageContext context{config, task_, cache_, verbosity_};
    const std::size_t before = cache_.records().size();
    const LogSource log = CollectLog(context, *sources_.behavior);
    const LogSplit split =
        SplitLog(log.log.episodes(), config.log, config.dynamics.members, config.seed);
    const FittedModels models =
        FitModels(context, log, sources_.behavior, split, config.classifiers.instances);
    const auto logged = LoggedValue(log.log, config.value, config.value.horizon);
    const std::vector<PolicyEvaluation> evaluations =
        EvaluatePolicies({context, sources_, log, split, models, logged});
    std::optional<double> seconds = 0.0;
    const std::vector<StageRecord> records = cache_.records();
    for (std::size_t k = before; k < records.size(); ++k) {
      if (!records[k].computed_seconds) seconds.reset();
      if (seconds) *seconds += *records[k].computed_seconds;
    }
    std::vector<StatedAnswer> answers;
    for (const PolicyEvaluation& evaluation : evaluations) {
      answers.push_back({evaluation.stated(), seconds});
    }
    return answers;
  }

  const BenchConfig& bench_;
  StageCache& cache_;
  Verbosity verbosity_;
  EvaluationConfig config_;
  Task task_;
  mutable std::map<std::tuple<std::int64_t, std::uint64_t>, std::vector<StatedAnswer>> stated_;
  PolicySet sources_;
  std::vector<BenchPolicy> policies_;
};

}  // namespace

std::vector<std::unique_ptr<BenchProblem>> MakeBenchProblems(const BenchConfig& config,
                                                             StageCache& cache,
                                                             Verbosity verbosity) {
  std::vector<std::unique_ptr<BenchProblem>> problems;
  for (const std::string& name : config.tabular) {
    problems.push_back(std::make_unique<TabularBench>(FindTabularProblem(name), config));
  }
  for (std::int64_t i = 0; i < config.linear_gaussian; ++i) {
    problems.push_back(std::make_unique<LinearGaussianBench>(config, i));
  }
  const std::size_t closed = problems.size();
  problems.resize(closed + config.tasks.size());
  ShareInTurn(cache, std::ssize(config.tasks), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    problems[closed + index] =
        std::make_unique<EnvironmentBench>(config, config.tasks[index], cache, verbosity);
  });
  return problems;
}

}  // namespace lfiw::experiments
