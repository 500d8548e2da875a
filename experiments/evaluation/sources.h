#ifndef LFIW_EXPERIMENTS_EVALUATION_SOURCES_H_
#define LFIW_EXPERIMENTS_EVALUATION_SOURCES_H_

#include <cstdint>
#include <string>

#include "core/layers.h"
#include "experiments/evaluation/evaluation_config.h"
#include "experiments/evaluation/run_context.h"
#include "policies/collect.h"

namespace lfiw::experiments {

// What model-based off-policy evaluation starts from: the task, the policies, the log, and, where
// there is an environment, the truth. Each is a stage of its part of the configuration, the hashes
// of its inputs and the seed, kept by the cache.

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
// Makes the truth that MakeTruth will read from the cache.
void PrepareTruth(const StageContext& context, const PolicySource& evaluation);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_SOURCES_H_
