#ifndef LFIW_EXPERIMENTS_BENCH_BENCH_CONFIG_H_
#define LFIW_EXPERIMENTS_BENCH_BENCH_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "experiments/bench/estimator_choice.h"
#include "experiments/evaluation/evaluation_config.h"
#include "experiments/presentation/experiment.h"
#include "ope/estimator.h"
#include "ope/fit.h"
#include "ope/judgement/episode_intervals.h"

namespace lfiw::experiments {

// An environment with the policies that log in it and are evaluated.
struct BenchTask {
  std::string environment = "HalfCheetah";
  PolicyPairOptions policies;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("environment", environment, "environment name");
    v.Field("policies", policies, "behavior and evaluation policies");
  }
};

// Estimators against known values: tabular systems by name, linear-Gaussian ones drawn at random,
// and environments, each with several sizes and seeds of the log.
struct BenchConfig {
  std::string name = "bench";
  ExperimentKind experiment = ExperimentKind::kBench;
  std::uint64_t seed = 0;
  std::int64_t seeds = 10;
  std::vector<std::int64_t> log_episodes = {100};
  std::vector<EstimatorChoice> estimators;
  EpisodeIntervalOptions interval;
  // Kinds beside or instead of interval.method, all of interval.level.
  std::vector<EpisodeIntervalMethod> intervals;
  std::vector<std::string> tabular;
  std::int64_t linear_gaussian = 0;
  std::vector<BenchTask> tasks;
  // In environments; a horizon of inf with its discount also stands for that of the closed-form
  // systems, whose logs keep their lengths.
  EstimandOptions value;
  LogOptions log;
  DynamicsOptions dynamics;
  ClassifierSetOptions classifiers;
  RolloutOptions rollout;
  FitRegistry fits;  // with the options that they run with
  TruthOptions truth;
  bool stated = true;

  // Models as in the robust preset; estimators may need what `known` provides.
  explicit BenchConfig(FitRegistry known = StandardFits());

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the run directory");
    v.Field("experiment", experiment, "which experiment this file is for");
    v.Field("seed", seed, "seed of the first log; the others follow");
    v.Field("seeds", seeds, "logs of each size", AtLeast(1));
    v.Field("log_episodes", log_episodes, "sizes of the logs", AtLeast(2));
    v.Field("estimators", estimators,
            "names of estimators, or {name: NAME, ...} with options of one; empty: all");
    v.Field("interval", interval, "intervals of estimates that are sums over episodes");
    v.Field("intervals", intervals,
            "kinds of intervals whose coverage is measured, the first for results.csv; empty: "
            "interval.method");
    v.Field("tabular", tabular, "tabular systems by name");
    v.Field("linear_gaussian", linear_gaussian,
            "random linear-Gaussian systems, each with four evaluation policies", AtLeast(0));
    v.Field("tasks", tasks, "environments with policies");
    v.Field("value", value,
            "the estimand in environments; closed-form systems have their own, unless its horizon "
            "is inf, which environments do not have");
    v.Field("log", log, "use of the logged episodes in environments");
    v.Field("dynamics", dynamics, "ensemble of dynamics models");
    v.Field("classifiers", classifiers, "classifiers of real against generated transitions");
    v.Field("rollout", rollout, "rollouts in the model");
    v.Field("fits", fits, "what estimators need beside a model");
    v.Field("truth", truth, "Monte Carlo values in environments");
    v.Field("stated", stated,
            "whether the answer that `lfiw evaluate` states first is a row of each environment, "
            "with its verdict");
  }
};

// Reads an experiment file and overrides, as LoadConfig does, for fits of which some may be one's
// own: `fits` has a section for each.
BenchConfig LoadBenchConfig(const std::string& path, const std::vector<std::string>& overrides,
                            FitRegistry known = StandardFits());

// Throws ConfigError with one line per problem: nothing to do, unknown systems, and what
// MakeEstimators says of the estimators, which are those of `registry`.
void CheckConfig(const BenchConfig& config,
                 const EstimatorRegistry& registry = StandardEstimators());

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_BENCH_BENCH_CONFIG_H_
