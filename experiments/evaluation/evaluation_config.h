#ifndef LFIW_EXPERIMENTS_EVALUATION_EVALUATION_CONFIG_H_
#define LFIW_EXPERIMENTS_EVALUATION_EVALUATION_CONFIG_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "envs/env_options.h"
#include "experiments/presentation/experiment.h"
#include "models/classifier_fit.h"
#include "models/dynamics_fit.h"
#include "models/learned_function_fit.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "ope/fits/model_values.h"
#include "ope/judgement/support.h"
#include "ope/judgement/verdict.h"
#include "ope/rollouts/learned_task_rules.h"
#include "ope/rollouts/lfiw.h"
#include "ope/rollouts/model_rollout.h"
#include "policies/behavior_cloning.h"
#include "policies/ppo/ppo_options.h"

namespace lfiw::experiments {

// What is estimated. All rows of one table, and the truth, share it.
struct EstimandOptions : ValueOptions {
  static constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

  std::int64_t horizon = 100;  // kNoEnd: infinite

  bool infinite() const { return horizon == kNoEnd; }

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("horizon", horizon, "steps T of an episode", OrInfinity(AtLeast(1)));
    ValueOptions::Visit(v);
  }
};

// Which defaults the other fields have.
enum class Preset {
  kPaper,   // the paper's choices and its estimators
  kRobust,  // what `lfiw evaluate` uses: minutes on two cores, a model calibrated by the log
  kQuick,   // the same with smaller models and fewer of them: a fifth of the time, wider intervals
};
constexpr auto EnumNames(Preset /*kind*/) {
  return std::to_array<std::string_view>({"paper", "robust", "quick"});
}

// How the behavior and the evaluation policy come about.
enum class PolicyPair {
  kSnapshots,    // one PPO run: its snapshot logs, its end is evaluated
  kIndependent,  // two PPO runs with different seeds, each annealed over its own length
  kFiles,        // policy files
};
constexpr auto EnumNames(PolicyPair /*kind*/) {
  return std::to_array<std::string_view>({"snapshots", "independent", "files"});
}

struct PolicyPairOptions {
  PolicyPair pair = PolicyPair::kSnapshots;
  std::int64_t behavior_steps = 500'000;
  std::int64_t evaluation_steps = 1'000'000;
  std::uint64_t seed = 0;
  std::string behavior_file;
  std::vector<std::string> evaluation_files;
  bool mean = false;  // the policies to be evaluated act without noise
  PpoHyperparameters ppo;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("pair", pair, "snapshots of one PPO run, two independent runs, or files");
    v.Field("behavior_steps", behavior_steps, "PPO steps of the behavior policy", AtLeast(1));
    v.Field("evaluation_steps", evaluation_steps, "PPO steps of the evaluation policy", AtLeast(1));
    v.Field("seed", seed, "seed of PPO; `independent` uses seed + 1 for the behavior policy");
    v.Field("behavior_file", behavior_file,
            "policy file, for pair: files; may be empty where the log is a file");
    v.Field("evaluation_files", evaluation_files,
            "policy files, for pair: files; all of them share the models");
    v.Field("mean", mean,
            "evaluate the policies without noise, by their mean action or their likeliest one, as "
            "published returns of trained agents mostly are");
    v.Field("ppo", ppo, "hyper-parameters of PPO");
  }
};

// The log, and which of its episodes train what.
struct LogOptions {
  std::int64_t episodes = 1000;
  std::string file;
  std::string map;
  std::int64_t max_transitions = 1'000'000;
  double dynamics_fraction = 0.8;
  std::int64_t cross_fit = 0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("episodes", episodes, "episodes to collect with the behavior policy", AtLeast(10));
    v.Field("file", file, "a log to use instead of collecting one, of any format");
    v.Field("map", map,
            "which array is what in a file of no known layout: obs=KEY,action=KEY,reward=KEY,...");
    v.Field("max_transitions", max_transitions,
            "most transitions to train on; more are sampled by episode", AtLeast(1));
    v.Field("dynamics_fraction", dynamics_fraction,
            "share of the episodes that trains the dynamics; the rest trains the classifiers",
            Between(0.1, 0.9));
    v.Field(
        "cross_fit", cross_fit,
        "folds K, at most as many as dynamics.members (of which one makes no folds): all episodes "
        "train both, but member k skips fold k mod K and the negatives on "
        "a fold come from members that skipped it; 0: split by dynamics_fraction",
        AtLeast(0));
  }
};

struct ClassifierSetOptions {
  std::int64_t instances = 10;
  ClassifierOptions fit;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("instances", instances,
            "classifiers, each with its own seed and its own bootstrap of episodes", AtLeast(1));
    v.Field("fit", fit, "network and training of each");
  }
};

// The LFIW estimators of the table: the product of these lists, each at every listed horizon.
struct EstimatorGrid {
  std::vector<LfiwVariant> variants = {LfiwVariant::kTrajectory, LfiwVariant::kStepwise,
                                       LfiwVariant::kPerDecision};
  std::vector<WeightNormalization> normalizations = {WeightNormalization::kSelf};
  std::vector<double> alphas = {1.0};
  std::vector<double> betas = {0.0};
  std::vector<ClassifierAverage> averages = {ClassifierAverage::kEstimates};
  std::vector<std::int64_t> horizons = {20, 40, 60, 80, 100};

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("variants", variants, "how weights enter");
    v.Field("normalizations", normalizations, "self-normalized weights or none");
    v.Field("alphas", alphas, "flattening exponents of the weights");
    v.Field("betas", betas, "lower bounds of the weights");
    v.Field("averages", averages, "over classifiers: of estimates, or of log-weights");
    v.Field(
        "horizons", horizons,
        "truncations H of the table's rows; empty: 1, 2, 5, 10, ...; the sweep has all of 0 .. T");
  }
};

// The doubly robust LFIW estimate beside the others.
struct DoublyRobustRowOptions {
  bool enabled = false;  // not in the paper
  ModelValueOptions model;
  PowerChoiceOptions choice;
  std::int64_t resamples = 2000;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("enabled", enabled, "correct the model's value by the logged transitions, too");
    v.Field("model", model, "values and visited states in the learned model");
    v.Field("choice", choice, "how strongly weights act");
    v.Field("resamples", resamples, "resamples of the episodes for its interval", AtLeast(40));
  }
};

struct TruthOptions {
  bool enabled = true;
  std::int64_t episodes = 1000;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("enabled", enabled, "evaluate in the real environment too");
    v.Field("episodes", episodes, "episodes of the Monte Carlo truth", AtLeast(2));
  }
};

struct IntervalOptions {
  double level = 0.95;
  std::int64_t classifier_replicates = 0;
  std::int64_t pipeline_replicates = 0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("level", level, "coverage aimed at", Between(0.5, 0.999));
    v.Field("classifier_replicates", classifier_replicates,
            "classifiers retrained for the classifier bootstrap; 0: the instances themselves, "
            "which are bootstrap replicates already",
            AtLeast(0));
    v.Field("pipeline_replicates", pipeline_replicates,
            "repeats of the whole pipeline on resampled episodes; 0: none", AtLeast(0));
  }
};

// Where rewards come from in the model.
enum class RewardFunction { kEnvironment, kLearned, kTorchScript };
constexpr auto EnumNames(RewardFunction /*kind*/) {
  return std::to_array<std::string_view>({"environment", "learned", "torchscript"});
}

struct TaskOptions {
  RewardFunction reward = RewardFunction::kEnvironment;
  std::string reward_file;
  TerminationSource termination = TerminationSource::kEnvironment;
  std::vector<double> action_low;
  std::vector<double> action_high;
  LearnedFunctionOptions learned;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("reward", reward,
            "the environment's function, one learned from the log, or a TorchScript module");
    v.Field(
        "reward_file", reward_file,
        "module of reward: torchscript, whose forward(states, actions, next_states) returns one "
        "reward per row; it is code, so name only a file that you trust");
    v.Field("termination", termination,
            "the environment's rule, one learned from the log, or none: episodes run for T steps");
    v.Field(
        "action_low", action_low,
        "lowest action of each dimension, for a log of an unknown environment; empty: the bounds "
        "that its actions show");
    v.Field("action_high", action_high, "highest action of each dimension, likewise");
    v.Field("learned", learned, "networks of a learned reward or termination");
  }
};

struct BacktestOptions {
  bool enabled = true;
  CloningOptions cloning;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("enabled", enabled,
            "evaluate the behavior policy too and compare with the returns of the log");
    v.Field("cloning", cloning,
            "behavior cloning, where the policy that wrote the log is not known; its kind is that "
            "of the log's actions");
  }
};

// Model-based off-policy evaluation with LFIW, from policies to the report.
struct EvaluationConfig {
  std::string name = "mbope";
  ExperimentKind experiment = ExperimentKind::kEvaluation;
  Preset preset = Preset::kPaper;
  std::uint64_t seed = 0;
  double checkpoint_seconds = 60.0;
  std::string environment = "HalfCheetah";
  EnvOptions environment_options;
  EstimandOptions value;
  TaskOptions task;
  PolicyPairOptions policies;
  LogOptions log;
  DynamicsOptions dynamics;
  ClassifierSetOptions classifiers;
  RolloutOptions rollout;
  EstimatorGrid estimators;
  DoublyRobustRowOptions doubly_robust;
  bool calibrate = false;  // not in the paper
  std::vector<std::string> rows;
  TruthOptions truth;
  BacktestOptions back_test;
  IntervalOptions intervals;
  SupportOptions support;
  VerdictOptions verdict;

  // The environment with its options, as FindEnv reads it.
  std::string EnvironmentName() const { return environment_options.AppendedTo(environment); }

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the run directory");
    v.Field("experiment", experiment, "which experiment this file is for");
    v.Field(
        "preset", preset,
        "defaults of the other fields: the paper's, or those of evaluate, which state the value in "
        "a model that the logged policy calibrates");
    v.Field("seed", seed, "root seed of everything but policy training");
    v.Field("checkpoint_seconds", checkpoint_seconds,
            "seconds between checkpoints of a training: the most work that a kill can lose",
            AtLeast(0.0));
    v.Field("environment", environment,
            "environment name, such as Hopper or Hopper-v5, or none if only its log is known");
    v.Field(
        "environment_options", environment_options,
        "arguments of gymnasium.make: frame_skip, ctrl_cost_weight, healthy_z_range, ...; `lfiw "
        "list environments` names those of each environment");
    v.Field("value", value, "the estimand");
    v.Field("task", task, "reward, termination and action bounds in the model");
    v.Field("policies", policies, "behavior and evaluation policy");
    v.Field("log", log, "logged episodes");
    v.Field("dynamics", dynamics, "ensemble of dynamics models");
    v.Field("classifiers", classifiers, "classifiers of real against generated transitions");
    v.Field("rollout", rollout, "rollouts of the evaluation policy in the model");
    v.Field("estimators", estimators, "rows of the table");
    v.Field("doubly_robust", doubly_robust, "the doubly robust LFIW estimate");
    v.Field(
        "calibrate", calibrate,
        "state the value in models that the logged policy calibrates, where it is known or cloned");
    v.Field("rows", rows,
            "further estimators to judge beside them, by their names in `lfiw bench`: fqe, wis, "
            "wdr_fqe, dual_dice, logged, ...");
    v.Field("truth", truth, "value in the real environment");
    v.Field("back_test", back_test, "the same method on the behavior policy");
    v.Field("intervals", intervals, "uncertainty");
    v.Field("support", support, "distance of the policy's actions from the log");
    v.Field("verdict", verdict, "thresholds of the verdict");
  }
};

// The defaults of a preset.
EvaluationConfig DefaultsOf(Preset preset);

// Reads an experiment file over the defaults of the preset it names. Throws ConfigError with one
// line for every wrong field.
EvaluationConfig LoadEvaluationConfig(const std::string& path,
                                      const std::vector<std::string>& overrides);

// Checks what the types cannot: horizons within T, files where they are needed, enough rollouts.
// Throws ConfigError with one line per problem.
void CheckConfig(const EvaluationConfig& config);

// Stands for the environment of a log that nothing else is known of.
inline constexpr const char* kNoEnvironment = "none";

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_EVALUATION_CONFIG_H_
