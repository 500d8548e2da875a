#include "experiments/evaluation/fitted_models.h"

#include <utility>

#include "ope/rollouts/learned_task_rules.h"

namespace lfiw::experiments {

std::unique_ptr<TaskRules> ModelTaskRules(const TaskKey& task, const EnvFactory* env,
                                          RewardSource source, const FittedModels& models) {
  LearnedParts parts{.environment = nullptr,
                     .reward = models.reward,
                     .termination = models.termination,
                     .termination_source = task.termination};
  if (env != nullptr) parts.environment = env->MakeTaskRules(source);
  // nothing to learn the end from: episodes run to the horizon
  if (task.termination == TerminationSource::kLearned && !models.termination) {
    parts.termination_source = TerminationSource::kNone;
  }
  return std::make_unique<LearnedTaskRules>(std::move(parts));
}

}  // namespace lfiw::experiments
