#ifndef LFIW_ENVS_LINEAR_GAUSSIAN_ENV_H_
#define LFIW_ENVS_LINEAR_GAUSSIAN_ENV_H_

#include <memory>

#include "core/layers.h"
#include "envs/env.h"
#include "envs/linear_gaussian.h"

namespace lfiw::envs {

inline constexpr const char* kLinearGaussianName = "LinearGaussian";

// A linear-Gaussian system as an environment: observations are states, actions are unbounded, no
// episode terminates. The noise of an episode follows from the stream given to its reset. Throws
// ConfigError as Validate does.
std::shared_ptr<const EnvFactory> MakeLinearGaussianFactory(const LinearGaussianSystem& system);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_LINEAR_GAUSSIAN_ENV_H_
