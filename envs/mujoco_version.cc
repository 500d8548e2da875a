#include "envs/mujoco_version.h"

#include <mujoco/mujoco.h>

namespace lfiw::envs {

std::string MujocoVersion() { return mj_versionString(); }

}  // namespace lfiw::envs
