#ifndef LFIW_ENVS_MUJOCO_VERSION_H_
#define LFIW_ENVS_MUJOCO_VERSION_H_

#include <string>

#include "core/layers.h"

namespace lfiw::envs {

// Version of the MuJoCo library in use, such as "2.2.2"; returns depend on it.
std::string MujocoVersion();

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_VERSION_H_
