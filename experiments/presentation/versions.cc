#include "experiments/presentation/versions.h"

#include <fmt/format.h>
#include <oneapi/tbb/version.h>

#include <Eigen/Core>

#include "envs/mujoco_version.h"
#include "models/torch_version.h"

namespace lfiw::experiments {

std::map<std::string, std::string> LibraryVersions() {
  return {{"MuJoCo", MujocoVersion()},
          {"LibTorch", TorchVersion()},
          {"Eigen",
           fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
          {"oneTBB", TBB_runtime_version()}};
}

}  // namespace lfiw::experiments
