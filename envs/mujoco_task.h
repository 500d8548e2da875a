#ifndef LFIW_ENVS_MUJOCO_TASK_H_
#define LFIW_ENVS_MUJOCO_TASK_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "core/layers.h"

namespace lfiw::envs {

// What a task rewards beside a constant and the control cost.
enum class RewardedProgress {
  kRootPosition,   // displacement of qpos[0] / step time
  kTorsoPosition,  // displacement of the torso's xpos[0], as MuJoCo leaves it after a step
  kHeight,         // height after the step / simulator time step, less a cost of impacts
};

enum class VelocityNoise { kUniform, kNormal };

// One of gym's v4 MuJoCo tasks: all that tells it from the others.
struct MujocoTask {
  std::string_view name;
  const char* mjcf;
  int frame_skip;
  // Leading entries of qpos (the horizontal position) that the observation leaves out. What is
  // observed is qpos from there on, then qvel, for kHeight followed by cinert, cvel, qfrc_actuator
  // and cfrc_ext.
  std::int64_t hidden_positions;
  double velocity_limit;  // observed velocities are clipped to +-this
  // Initial state: qpos0 plus U(-reset_noise, reset_noise), and velocities either likewise or
  // reset_noise times a standard normal.
  double reset_noise;
  VelocityNoise velocity_noise;
  RewardedProgress progress;
  double bonus;         // reward per step
  double control_cost;  // times the squared norm of the clipped action
  // Whether the episode goes on; null: always. `positions` are the observed ones (the height
  // first), `velocities` all of qvel.
  bool (*healthy)(std::span<const double> positions, std::span<const double> velocities);
};

// Swimmer, HalfCheetah, HumanoidStandup, Hopper, Walker2d and Ant (27 observations, without contact
// forces and their cost).
std::span<const MujocoTask> MujocoTasks();

// Cost of impacts in HumanoidStandup: 5e-7 times the squared norm of cfrc_ext, at most 10.
double ImpactCost(std::span<const double> external_forces);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_TASK_H_
