#ifndef LFIW_OPE_ROLLOUTS_LEARNED_TASK_RULES_H_
#define LFIW_OPE_ROLLOUTS_LEARNED_TASK_RULES_H_

#include <array>
#include <memory>
#include <string_view>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "envs/env.h"
#include "models/learned_function.h"
#include "models/scalar_of_transition.h"

namespace lfiw::ope {

// What ends an episode on model output.
enum class TerminationSource {
  kEnvironment,  // the environment's own rule
  kLearned,      // a learned probability of at least 1/2
  kNone,         // nothing but the horizon
};
constexpr auto EnumNames(TerminationSource /*kind*/) {
  return std::to_array<std::string_view>({"environment", "learned", "none"});
}

// Where each part of LearnedTaskRules comes from.
struct LearnedParts {
  std::shared_ptr<const TaskRules> environment = nullptr;        // null where unknown
  std::shared_ptr<const ScalarOfTransition> reward = nullptr;    // none: the environment's
  std::shared_ptr<const LearnedFunction> termination = nullptr;  // used by kLearned alone
  TerminationSource termination_source = TerminationSource::kNone;
};

// Reward and termination of an environment that is known in part or not at all; the rest is learned
// from a log, or for the reward any function. Such parts read no aux and take actions as executed:
// within the bounds.
class LearnedTaskRules final : public TaskRules {
 public:
  // Throws ConfigError when the reward or the termination asked for is not among the parts.
  explicit LearnedTaskRules(LearnedParts parts);

  std::int64_t aux_dim() const override;
  void Rewards(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
               ConstMatrixRef aux, std::span<double> rewards) const override;
  // A probability that is not a number ends the episode.
  void Terminated(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                  std::span<std::uint8_t> terminated) const override;
  // Learned parts keep the members whose training skipped the episode, where there are some.
  std::unique_ptr<TaskRules> Unseen(std::int64_t episode) const override;

 private:
  LearnedParts parts_;
};

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_LEARNED_TASK_RULES_H_
