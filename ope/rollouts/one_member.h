#ifndef LFIW_OPE_ROLLOUTS_ONE_MEMBER_H_
#define LFIW_OPE_ROLLOUTS_ONE_MEMBER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "models/transition_model.h"
#include "ope/rollouts/block_rollout.h"
#include "ope/rollouts/rollout_inputs.h"

namespace lfiw::ope {

// One member of a model as a model of its own. The model must outlive it.
class OneMember final : public TransitionModel {
 public:
  OneMember(const TransitionModel& all, std::int64_t member) : all_(all), member_(member) {}
  std::int64_t obs_dim() const override { return all_.obs_dim(); }
  std::int64_t action_dim() const override { return all_.action_dim(); }
  std::int64_t aux_dim() const override { return all_.aux_dim(); }
  std::int64_t members() const override { return 1; }
  std::int64_t noise_dim() const override { return all_.noise_dim(); }
  void Sample(ConstMatrixRef states, ConstMatrixRef actions, std::span<const std::int64_t> member,
              ConstMatrixRef noise, MatrixRef next_states, MatrixRef aux) const override {
    all_.Sample(states, actions, std::vector<std::int64_t>(member.size(), member_), noise,
                next_states, aux);
  }
  std::vector<std::int64_t> MembersFor(std::int64_t /*episode*/) const override { return {0}; }

 private:
  const TransitionModel& all_;
  std::int64_t member_;
};

// Rolls the policy out for `horizon` steps from the first `episodes` start states in each member of
// the model alone, as one parallel task each; all members see the same start states and random
// numbers. visit(member, block) sees the rollouts of one member, on the thread of its task.
void RollOutInEachMember(
    const RolloutInputs& inputs, std::int64_t episodes, std::int64_t horizon, std::uint64_t seed,
    const std::function<void(std::int64_t member, const BlockRollout& block)>& visit);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_ONE_MEMBER_H_
