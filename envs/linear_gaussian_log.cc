#include "envs/linear_gaussian_log.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <span>

#include "core/parallel.h"

namespace lfiw::envs {
namespace {

// A matrix L with L L' = covariance, which may be singular.
MatrixD CovarianceRoot(const MatrixD& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

VectorD Normals(Stream& stream, Eigen::Index n) {
  VectorD values(n);
  stream.FillNormal(std::span(values.data(), static_cast<std::size_t>(n)));
  return values;
}

struct Roots {
  MatrixD noise, initial, action;
};

void SampleEpisode(const LinearGaussianSystem& system, const LinearGaussianPolicy& policy,
                   const Roots& roots, std::int64_t i, Stream stream, LinearGaussianLog& log) {
  const Eigen::Index n = system.state_dim(), m = system.action_dim();
  VectorD state = system.initial_mean + roots.initial * Normals(stream, n);
  std::ranges::copy(state, log.states.Row(i, 0).begin());
  for (std::int64_t t = 0; t < log.steps(); ++t) {
    const VectorD action = policy.gain * state + policy.offset + roots.action * Normals(stream, m);
    const VectorD next = system.state_matrix * state + system.action_matrix * action +
                         system.offset + roots.noise * Normals(stream, n);
    log.rewards(i, t) = LinearGaussianReward(system, state, action, next);
    std::ranges::copy(action, log.actions.Row(i, t).begin());
    std::ranges::copy(next, log.states.Row(i, t + 1).begin());
    state = next;
  }
}

}  // namespace

LinearGaussianLog SampleLog(const LinearGaussianSystem& system, const LinearGaussianPolicy& policy,
                            std::int64_t episodes, std::int64_t steps, const Stream& stream) {
  Validate(system);
  const Roots roots{CovarianceRoot(system.noise_covariance),
                    CovarianceRoot(system.initial_covariance), CovarianceRoot(policy.covariance)};
  LinearGaussianLog log{Array<double, 3>({episodes, steps + 1, system.state_dim()}),
                        Array<double, 3>({episodes, steps, system.action_dim()}),
                        Array<double, 2>({episodes, steps})};
  constexpr std::int64_t kBlock = 64;
  ParallelBlocks(episodes, kBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      SampleEpisode(system, policy, roots, i, stream.Child(static_cast<std::uint64_t>(i)), log);
    }
  });
  return log;
}

std::vector<StateMoments> StateDistributions(const LinearGaussianSystem& system,
                                             const LinearGaussianPolicy& policy,
                                             std::int64_t steps) {
  Validate(system);
  const MatrixD closed = system.state_matrix + system.action_matrix * policy.gain;
  const MatrixD noise = system.noise_covariance +
                        system.action_matrix * policy.covariance * system.action_matrix.transpose();
  const VectorD offset = system.action_matrix * policy.offset + system.offset;
  std::vector<StateMoments> moments;
  StateMoments now{system.initial_mean, system.initial_covariance};
  for (std::int64_t t = 0; t < steps; ++t) {
    moments.push_back(now);
    now = {closed * now.mean + offset, closed * now.covariance * closed.transpose() + noise};
  }
  return moments;
}

}  // namespace lfiw::envs
