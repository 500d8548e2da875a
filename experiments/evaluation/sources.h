#ifndef LFIW_EXPERIMENTS_EVALUATION_SOURCES_H_
#define LFIW_EXPERIMENTS_EVALUATION_SOURCES_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/run/stage_cache.h"
#include "envs/env.h"
#include "experiments/evaluation_config.h"
#include "experiments/presentation/terminal_progress.h"
#include "policies/collect.h"
#include "policies/ppo/ppo.h"

namespace lfiw::experiments {

// What model-based off-policy evaluation starts from: the task, the policies, the log, and, where
// there is an environment, the truth. Like the stages that follow, each is a function of its part
// of the configuration, the hashes of its inputs and the seed, kept by the cache.

// What is known of a task beside its log.
struct Task {
  EnvSpec spec;                           // sizes, bounds, names
  std::shared_ptr<const EnvFactory> env;  // null where there is only a log
};

// What every stage needs beside its inputs. All references outlive the stages.
struct StageContext {
  const EvaluationConfig& config;
  const Task& task;
  StageCache& cache;
  Verbosity verbosity;
};

// Something made by a stage or given as a file, with the hash of its bytes for later stages.
struct PolicySource {
  std::string path;
  std::string hash;
  std::string label;  // names it in tables
};

struct PolicySet {
  std::optional<PolicySource> behavior;  // none where only its log is known
  std::vector<PolicySource> evaluations;
  nlohmann::json training = nlohmann::json::array();  // learning curves, as in report.json
};

struct LogSource {
  EpisodeBatch log;
  std::string hash;
  std::string environment = {};         // as the file names it; empty if it does not
  std::int64_t discrete_actions = 0;    // number of actions; 0: continuous
  std::vector<std::string> notes = {};  // what was decided in reading it
};

// Steps of the longest episode.
std::int64_t LongestEpisode(const EpisodeBatch& log);

// The log file named in the configuration, of an environment that may be unknown (empty or
// kNoEnvironment). Throws DataError when it cannot be read.
LogSource ReadLogFile(const LogOptions& options, const std::string& environment,
                      std::uint64_t seed);

// The task of the configuration's environment; without one, that of the log: its sizes, and as
// bounds those of task.action_low and action_high, else the range of its actions.
Task MakeTask(const EvaluationConfig& config, const LogSource* log);

// Throws DataError unless the log's sizes are the task's. Where the task's reward needs aux and the
// log has none, recovers it from the logged rewards, and notes how well it agrees with the
// velocities observed.
void FitLogToTask(const Task& task, const std::string& path, LogSource& log);

// Trains policies or takes the files named; all of them fit the task.
PolicySet MakePolicies(const StageContext& context);

// The policy that wrote a log, where nobody names it: the one inside the file, else a clone fitted
// to its actions.
PolicySource FindBehavior(const StageContext& context, const LogSource& log);

// Episodes of the behavior policy.
LogSource CollectLog(const StageContext& context, const PolicySource& behavior);

// The value of a policy in the environment.
MonteCarloEstimate MakeTruth(const StageContext& context, const PolicySource& evaluation);

// Writes policy.npz, policy_STEPS.npz of every snapshot and curve.csv into `directory`.
void SavePpoResult(const PpoResult& result, const std::string& directory);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_SOURCES_H_
