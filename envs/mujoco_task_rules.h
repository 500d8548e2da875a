#ifndef LFIW_ENVS_MUJOCO_TASK_RULES_H_
#define LFIW_ENVS_MUJOCO_TASK_RULES_H_

#include <memory>

#include "core/layers.h"
#include "envs/env.h"
#include "envs/mujoco_shared.h"

namespace lfiw::envs {

// Reward and termination of a MuJoCo task from observations. Exact up to the rounding of its inputs
// for kDisplacement, but for one thing: Hopper ends when a velocity exceeds 100, which observed
// velocities, clipped to +-10, cannot show.
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
  // Reward of HumanoidStandup less its bonus and control cost.
  double StandingReward(const float* next_state) const;

  std::shared_ptr<const MujocoShared> shared_;
  RewardSource source_;
};

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_TASK_RULES_H_
