#ifndef LFIW_ENVS_MUJOCO_SHARED_H_
#define LFIW_ENVS_MUJOCO_SHARED_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/layers.h"
#include "envs/env.h"
#include "envs/mujoco_model.h"
#include "envs/mujoco_task.h"

namespace lfiw::envs {

// What the one column of aux holds, if there is one.
enum class AuxKind {
  kNone,
  kVelocity,    // forward velocity, which progress_weight weighs
  kRewardTerm,  // all of the reward that the observations do not give
};

// What all instances of one task share.
struct MujocoShared {
  MujocoTask task;
  std::shared_ptr<const mjModel> model;
  EnvSpec spec;
  AuxKind aux = AuxKind::kNone;
  // Bodies that kReach (fingertip, target) and kPush (tip of the arm, object, goal) measure.
  std::array<int, 3> bodies = {};

  // Observed entries of qpos; the first velocity follows them in the observation.
  std::int64_t positions() const { return model->nq - task.skipped_positions(); }
  // Numbers of cfrc_ext in an observation; they are its last ones.
  std::int64_t contact_numbers() const;
};

// Compiles the model of a task; `name` is that of its spec. Throws ConfigError with MuJoCo's
// message.
std::shared_ptr<const MujocoShared> LoadMujocoTask(const MujocoTask& task, const std::string& name);
std::shared_ptr<const MujocoShared> LoadMujocoTask(const MujocoTask& task);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_SHARED_H_
