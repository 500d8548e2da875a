#ifndef LFIW_ENVS_MUJOCO_ENV_H_
#define LFIW_ENVS_MUJOCO_ENV_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "envs/env.h"
#include "envs/mujoco_model.h"
#include "envs/mujoco_shared.h"
#include "envs/mujoco_task.h"

namespace lfiw::envs {

// One of Gymnasium's MuJoCo tasks. A step is frame_skip times mj_step and, where external forces
// are observed or cost, one mj_rnePostConstraint; as in Gymnasium, quantities that MuJoCo derives
// from the state (xpos, cinert, cvel, ...) are not recomputed after it, while a reset calls
// mj_forward.
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
  void ObserveState(std::span<double> observation) const;
  // What RewardedProgress names, of the state as MuJoCo leaves it after a step: a position along x
  // whose change counts, or the reward itself.
  double Progress() const;
  double MassCenter() const;
  // Distance between two of the bodies that the task measures, by their places in shared_->bodies.
  double Distance(std::size_t a, std::size_t b) const;
  bool IsHealthy() const;
  void CheckStable() const;
  // Calls visit(values) on every array that the coming steps read, each as a span.
  template <class Visit>
  void VisitState(const Visit& visit) const;

  std::shared_ptr<const MujocoShared> shared_;
  MjDataPtr data_;
};

std::shared_ptr<const EnvFactory> MakeMujocoFactory(const MujocoTask& task,
                                                    const std::string& name);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_ENV_H_
