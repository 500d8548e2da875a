#ifndef LFIW_ENVS_MUJOCO_VERSION_H_
#define LFIW_ENVS_MUJOCO_VERSION_H_

#include <string>

namespace lfiw {

// Version of the MuJoCo library in use, such as "2.2.2"; returns depend on it.
std::string MujocoVersion();

}  // namespace lfiw

#endif  // LFIW_ENVS_MUJOCO_VERSION_H_
