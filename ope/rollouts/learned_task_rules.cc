#include "ope/rollouts/learned_task_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"

namespace lfiw::ope {

LearnedTaskRules::LearnedTaskRules(LearnedParts parts) : parts_(std::move(parts)) {
  LFIW_ASSERT(!parts_.termination || parts_.termination->kind() == FunctionKind::kTermination);
  if (!parts_.reward && parts_.environment == nullptr) {
    Throw<ConfigError>("reward: no function and no environment given, expected one of the two");
  }
  if (parts_.termination_source == TerminationSource::kEnvironment &&
      parts_.environment == nullptr) {
    Throw<ConfigError>("termination: environment, but none is given; expected learned or none");
  }
  if (parts_.termination_source == TerminationSource::kLearned && !parts_.termination) {
    Throw<ConfigError>("termination: learned, but none was fitted; expected environment or none");
  }
}

std::int64_t LearnedTaskRules::aux_dim() const {
  return parts_.reward ? 0 : parts_.environment->aux_dim();
}

void LearnedTaskRules::Rewards(ConstMatrixRef states, ConstMatrixRef actions,
                               ConstMatrixRef next_states, ConstMatrixRef aux,
                               std::span<double> rewards) const {
  if (parts_.reward) {
    parts_.reward->Predict(states, actions, next_states, rewards);
  } else {
    parts_.environment->Rewards(states, actions, next_states, aux, rewards);
  }
}

std::unique_ptr<TaskRules> LearnedTaskRules::Unseen(std::int64_t episode) const {
  const bool ends_learned = parts_.termination_source == TerminationSource::kLearned;
  auto reward = parts_.reward ? parts_.reward->Unseen(episode) : nullptr;
  auto termination = ends_learned ? parts_.termination->WithoutSeen(episode) : nullptr;
  if (reward == nullptr && termination == nullptr) return nullptr;
  LearnedParts unseen = parts_;
  if (reward != nullptr) unseen.reward = std::move(reward);
  if (termination != nullptr) unseen.termination = std::move(termination);
  return std::make_unique<LearnedTaskRules>(std::move(unseen));
}

void LearnedTaskRules::Terminated(ConstMatrixRef states, ConstMatrixRef actions,
                                  ConstMatrixRef next_states,
                                  std::span<std::uint8_t> terminated) const {
  switch (parts_.termination_source) {
    case TerminationSource::kEnvironment:
      parts_.environment->Terminated(states, actions, next_states, terminated);
      return;
    case TerminationSource::kNone:
      std::ranges::fill(terminated, std::uint8_t{0});
      return;
    case TerminationSource::kLearned:
      break;
  }
  std::vector<double> probabilities(terminated.size());
  parts_.termination->Predict(states, actions, next_states, probabilities);
  std::ranges::transform(probabilities, terminated.begin(),
                         [](double p) { return p < 0.5 ? std::uint8_t{0} : std::uint8_t{1}; });
}

}  // namespace lfiw::ope
