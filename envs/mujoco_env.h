#ifndef LFIW_ENVS_MUJOCO_ENV_H_
#define LFIW_ENVS_MUJOCO_ENV_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/layers.h"
#include "envs/env.h"
#include "envs/mujoco_model.h"
#include "envs/mujoco_shared.h"
#include "envs/mujoco_task.h"

namespace lfiw::envs {

// One of gym's v4 MuJoCo tasks. A step is frame_skip times mj_step and, where external forces are
// observed, one mj_rnePostConstraint; as in gym, quantities that MuJoCo derives from the state
// (xpos, cinert, cvel, ...) are not recomputed after it, while a reset calls mj_forward.
class MujocoEnv final : public Env {
 public:
  explicit MujocoEnv(std::shared_ptr<const MujocoShared> shared);

  const EnvSpec& spec() const override { return shared_->spec; }
  void Reset(Stream& stream, std::span<double> observation) override;
  StepResult Step(std::span<const double> action, std::span<double> observation,
                  std::span<double> aux) override;
  std::vector<double> SaveState() const override;
  void LoadState(std::span<const double> state) override;

  // Starts an episode in a given state: positions [nq], velocities [nv].
  void ResetTo(std::span<const double> positions, std::span<const double> velocities,
               std::span<double> observation);

 private:
  // Copies the action, clipped, to the actuators; returns its squared norm.
  double ApplyAction(std::span<const double> action);
  void Simulate();
  void Observe(std::span<double> observation) const;
  // x that RewardedProgress names; stale after a step where MuJoCo leaves it so.
  double ForwardPosition() const;
  void CheckStable() const;
  // Calls visit(values) on every array that the coming steps read, each as a span.
  template <class Visit>
  void VisitState(const Visit& visit) const;

  std::shared_ptr<const MujocoShared> shared_;
  MjDataPtr data_;
};

std::shared_ptr<const EnvFactory> MakeMujocoFactory(const MujocoTask& task);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_ENV_H_
