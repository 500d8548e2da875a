#ifndef LFIW_TESTS_ENVS_INDEPENDENT_SHIFT_H_
#define LFIW_TESTS_ENVS_INDEPENDENT_SHIFT_H_

#include "core/layers.h"
#include "envs/linear_gaussian.h"

namespace lfiw::envs {

// Makes a system whose states are independent of each other and of the action, x' ~ N(mean, 1),
// with reward x'. It is worth horizon * mean; the ratio of two such systems' transitions is that of
// two normals.
inline LinearGaussianSystem IndependentShift(double mean) {
  LinearGaussianSystem system = ZeroLinearGaussian(1, 1);
  system.offset(0) = mean;
  system.noise_covariance(0, 0) = 1.0;
  system.initial_mean(0) = mean;
  system.initial_covariance(0, 0) = 1.0;
  system.next_state_reward(0) = 1.0;
  return system;
}

}  // namespace lfiw::envs

#endif  // LFIW_TESTS_ENVS_INDEPENDENT_SHIFT_H_
