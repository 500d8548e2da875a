#ifndef LFIW_ENVS_LINEAR_GAUSSIAN_LOG_H_
#define LFIW_ENVS_LINEAR_GAUSSIAN_LOG_H_

#include <cstdint>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "envs/linear_gaussian.h"

namespace lfiw::envs {

// Episodes of a linear-Gaussian system in double precision, all of T steps: nothing ends them but
// the time limit.
struct LinearGaussianLog {
  Array<double, 3> states;   // [n, T + 1, state_dim]
  Array<double, 3> actions;  // [n, T, action_dim]
  Array<double, 2> rewards;  // [n, T]

  std::int64_t episodes() const { return rewards.shape()[0]; }
  std::int64_t steps() const { return rewards.shape()[1]; }
  Eigen::Map<const VectorD> State(std::int64_t i, std::int64_t t) const {
    return {states.Row(i, t).data(), static_cast<Eigen::Index>(states.shape()[2])};
  }
  Eigen::Map<const VectorD> Action(std::int64_t i, std::int64_t t) const {
    return {actions.Row(i, t).data(), static_cast<Eigen::Index>(actions.shape()[2])};
  }
};

// Simulates episodes; the random numbers of each are those of its own child of `stream`, so that
// the log does not depend on the number of threads. episodes, steps >= 1.
LinearGaussianLog SampleLog(const LinearGaussianSystem& system, const LinearGaussianPolicy& policy,
                            std::int64_t episodes, std::int64_t steps, const Stream& stream);

// A normal distribution of states.
struct StateMoments {
  VectorD mean;        // [n]
  MatrixD covariance;  // [n, n]
};

// The exact distribution of states under a policy at t = 0 .. steps - 1.
std::vector<StateMoments> StateDistributions(const LinearGaussianSystem& system,
                                             const LinearGaussianPolicy& policy,
                                             std::int64_t steps);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_LINEAR_GAUSSIAN_LOG_H_
