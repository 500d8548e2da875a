#ifndef LFIW_OPE_LEARNED_TRANSITION_FUNCTIONS_H_
#define LFIW_OPE_LEARNED_TRANSITION_FUNCTIONS_H_

#include <array>
#include <memory>
#include <string_view>

#include "core/visitor.h"
#include "envs/env.h"
#include "models/learned_function.h"
#include "models/transition_function.h"

namespace lfiw {

// What ends an episode on model output.
enum class TerminationSource {
  kEnvironment,  // the environment's own rule
  kLearned,      // a learned probability of at least 1/2
  kNone,         // nothing but the horizon
};
template <>
struct EnumNames<TerminationSource> {
  static constexpr std::array<std::string_view, 3> names = {"environment", "learned", "none"};
};

// Where each part of LearnedTransitionFunctions comes from.
struct LearnedParts {
  std::shared_ptr<const TransitionFunctions> environment = nullptr;  // null where unknown
  std::shared_ptr<const TransitionFunction> reward = nullptr;        // none: the environment's
  std::shared_ptr<const LearnedFunction> termination = nullptr;      // used by kLearned alone
  TerminationSource termination_source = TerminationSource::kNone;
};

// Reward and termination of an environment that is known in part or not at all; the rest is learned
// from a log, or for the reward any function. Such parts read no aux and take actions as executed:
// within the bounds.
class LearnedTransitionFunctions final : public TransitionFunctions {
 public:
  // Throws ConfigError when the reward or the termination asked for is not among the parts.
  explicit LearnedTransitionFunctions(LearnedParts parts);

  std::int64_t aux_dim() const override;
  void Rewards(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
               ConstMatrixRef aux, std::span<double> rewards) const override;
  // A probability that is not a number ends the episode.
  void Terminated(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                  std::span<std::uint8_t> terminated) const override;

 private:
  LearnedParts parts_;
};

}  // namespace lfiw

#endif  // LFIW_OPE_LEARNED_TRANSITION_FUNCTIONS_H_
