#ifndef LFIW_ENVS_MUJOCO_TASK_RULES_H_
#define LFIW_ENVS_MUJOCO_TASK_RULES_H_

#include <cstdint>
#include <memory>
#include <span>

#include "core/layers.h"
#include "envs/env.h"
#include "envs/mujoco_shared.h"

namespace lfiw::envs {

// Reward and termination of a MuJoCo task from observations. Exact up to the rounding of its inputs
// for kDisplacement, but for what observations cannot show: Hopper ends when a velocity exceeds
// 100, and observed velocities are clipped to +-10; InvertedDoublePendulum ends by the height that
// MuJoCo computes within the step, which differs a little from that of the observed angles. The
// other sources leave out costs of contacts that are not observed.
class MujocoTaskRules final : public TaskRules {
 public:
  MujocoTaskRules(std::shared_ptr<const MujocoShared> shared, RewardSource source);

  std::int64_t aux_dim() const override;
  void Rewards(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
               ConstMatrixRef aux, std::span<double> rewards) const override;
  void Terminated(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                  std::span<std::uint8_t> terminated) const override;

 private:
  double ControlCost(const float* action) const;
  // Forward velocity from the velocities observed before and after.
  double ObservedVelocity(const float* state, const float* next_state) const;
  // What the task rewards beside bonus and control cost. `aux` is null where it is not known.
  double Progress(const float* state, const float* next_state, const float* aux) const;
  // The cost of contacts that are observed.
  double ObservedContacts(const float* next_state) const;
  bool IsHealthy(const float* state) const;

  std::shared_ptr<const MujocoShared> shared_;
  RewardSource source_;
};

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_TASK_RULES_H_
