#ifndef LFIW_EXPERIMENTS_EVALUATION_RUN_CONTEXT_H_
#define LFIW_EXPERIMENTS_EVALUATION_RUN_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/logs/finding.h"
#include "core/logs/log_audit.h"
#include "core/run/stage_cache.h"
#include "envs/env.h"
#include "experiments/evaluation/evaluation_config.h"
#include "experiments/presentation/terminal_progress.h"
#include "policies/policy.h"

namespace lfiw::experiments {

// What the stages of an evaluation hand to one another.

// What is known of a task beside its log.
struct Task {
  EnvSpec spec;                           // sizes, bounds, names
  std::shared_ptr<const EnvFactory> env;  // null where there is only a log
};

// What the conductor of a run has at hand. Stages never see it: of the configuration they get the
// key that is made from it. All references outlive the run.
struct StageContext {
  const EvaluationConfig& config;
  const Task& task;
  StageCache& cache;
  Verbosity verbosity;

  // How stages of this run write checkpoints and show their progress.
  StageWork Work() const;
};

// The part of a task that decides the bytes of what is computed in it, for the keys of stages.
struct TaskKey {
  std::string environment;
  RewardFunction reward = RewardFunction::kEnvironment;
  TerminationSource termination = TerminationSource::kEnvironment;
  std::vector<double> action_low, action_high;  // [action_dim], +-infinity where unbounded

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("environment", environment, "name of the environment, or of a log's");
    v.Field("reward", reward, "where rewards come from in the model");
    v.Field("termination", termination, "what ends an episode in the model");
    v.Field("action_low", action_low, "lowest action of each dimension");
    v.Field("action_high", action_high, "highest action of each dimension");
  }
};
TaskKey TaskKeyOf(const StageContext& context);

// A policy that a stage made or a file holds, with the hash of its bytes for later stages.
struct PolicySource {
  std::string path;
  std::string hash;
  std::string label;  // names it in tables
  std::shared_ptr<const Policy> policy;
  bool cloned = false;  // an imitation, fitted to the actions of the log
};

// Loads a policy file whose bytes alone tell what it is. Throws PolicyError.
PolicySource LoadPolicySource(const std::string& path, const std::string& label);

// A learning curve of policy training: mean returns at numbers of environment steps.
struct TrainingCurve {
  std::string label;
  std::vector<std::int64_t> steps;
  std::vector<double> returns;
};

struct PolicySet {
  std::optional<PolicySource> behavior;  // none where only its log is known
  std::vector<PolicySource> evaluations;
  std::vector<TrainingCurve> training = {};
};

struct LogSource {
  EpisodeBatch log;
  std::string hash;
  std::string environment = {};         // as the file names it; empty if it does not
  std::int64_t discrete_actions = 0;    // number of actions; 0: continuous
  std::vector<std::string> notes = {};  // what was decided in reading it
  AuditReport audit = {};               // what speaks for or against it: findings above a note
  std::string horizon_rule = {};        // how it gave the horizon; empty if another was asked for
};

// A finding with its cure: "every reward is 0 (check which array holds the rewards)".
std::string FindingText(const Finding& finding);
// The findings of one grade in one line; empty where there is none.
std::string FindingsText(const std::vector<Finding>& findings, Severity severity);

// The steps that enough episodes run: the most that at least 5 % of the episodes, and 2 of several,
// take. What comes later, a few episodes decide.
inline constexpr double kSupportedShare = 0.05;
std::int64_t SupportedSteps(const EpisodeBatch& log);

// Steps of the longest episode.
std::int64_t LongestEpisode(const EpisodeBatch& log);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_RUN_CONTEXT_H_
