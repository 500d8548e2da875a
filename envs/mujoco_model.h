#ifndef LFIW_ENVS_MUJOCO_MODEL_H_
#define LFIW_ENVS_MUJOCO_MODEL_H_

#include <mujoco/mujoco.h>

#include <memory>
#include <string>

#include "core/layers.h"

namespace lfiw::envs {

struct MjDataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using MjDataPtr = std::unique_ptr<mjData, MjDataDeleter>;

// Compiles the text of an MJCF model. Throws ConfigError with MuJoCo's message; `name` says whose
// model it is. From then on MuJoCo's warnings are left to the counters in mjData instead of being
// written to the terminal and to a log file.
std::shared_ptr<const mjModel> CompileMjcf(const std::string& name, const std::string& mjcf);

// Simulation state and scratch memory of one instance.
MjDataPtr MakeMjData(const mjModel& model);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_MODEL_H_
