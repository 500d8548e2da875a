#ifndef LFIW_ENVS_MUJOCO_SHARED_H_
#define LFIW_ENVS_MUJOCO_SHARED_H_

#include <cstdint>
#include <memory>

#include "core/layers.h"
#include "envs/env.h"
#include "envs/mujoco_model.h"
#include "envs/mujoco_task.h"

namespace lfiw::envs {

// What all instances of one task share.
struct MujocoShared {
  MujocoTask task;
  std::shared_ptr<const mjModel> model;
  EnvSpec spec;

  // Observed entries of qpos; the first velocity follows them in the observation.
  std::int64_t positions() const { return model->nq - task.hidden_positions; }
};

// Compiles the model of a task. Throws ConfigError with MuJoCo's message.
std::shared_ptr<const MujocoShared> LoadMujocoTask(const MujocoTask& task);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_SHARED_H_
