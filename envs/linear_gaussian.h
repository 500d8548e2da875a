#ifndef LFIW_ENVS_LINEAR_GAUSSIAN_H_
#define LFIW_ENVS_LINEAR_GAUSSIAN_H_

#include <Eigen/Cholesky>
#include <cstdint>

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::envs {

// A linear system with Gaussian noise and a quadratic reward, whose values and density ratios are
// known in closed form: the oracle for everything that estimates them.
//   x' = A x + B u + c + N(0, S),  x0 ~ N(m, C)
//   reward(x, u, x') = -(x'Qx + u'Ru) + q.x + r.u + p.x'   (in the quadratic forms ' transposes)
// n: state dimension, m: action dimension. Symmetric matrices must be symmetric; actions have no
// bounds, since clipping would break the closed forms.
struct LinearGaussianSystem {
  MatrixD state_matrix;        // A [n, n]
  MatrixD action_matrix;       // B [n, m]
  VectorD offset;              // c [n]
  MatrixD noise_covariance;    // S [n, n], positive semidefinite
  VectorD initial_mean;        // m [n]
  MatrixD initial_covariance;  // C [n, n], positive semidefinite
  MatrixD state_cost;          // Q [n, n], symmetric, of any sign
  MatrixD action_cost;         // R [m, m], symmetric, of any sign
  VectorD state_reward;        // q [n]
  VectorD action_reward;       // r [m]
  VectorD next_state_reward;   // p [n]

  std::int64_t state_dim() const { return state_matrix.rows(); }
  std::int64_t action_dim() const { return action_matrix.cols(); }
};

// A system of the given sizes in which everything is zero.
LinearGaussianSystem ZeroLinearGaussian(std::int64_t state_dim, std::int64_t action_dim);

// x' = 0.9 x + 0.5 u + N(0, 0.3^2), x0 = 1, reward -(x^2 + 0.1 u^2). Under u ~ N(-0.6 x, 0.2^2) and
// discount 0.95 it is worth -4.645957447, or -4.390692491 over 50 steps.
LinearGaussianSystem ScalarLinearGaussian();

// Throws ConfigError that names the field whose shape, symmetry or definiteness is wrong.
void Validate(const LinearGaussianSystem& system);

double LinearGaussianReward(const LinearGaussianSystem& system, const VectorD& state,
                            const VectorD& action, const VectorD& next_state);

// The policy u ~ N(K x + k, Su).
struct LinearGaussianPolicy {
  MatrixD gain;        // K [m, n]
  VectorD offset;      // k [m]
  MatrixD covariance;  // Su [m, m], positive semidefinite
};

// A value function x'Px + v.x + c.
struct QuadraticValue {
  MatrixD quadratic;  // P [n, n], symmetric
  VectorD linear;     // v [n]
  double constant = 0.0;

  double operator()(const VectorD& state) const;
  // Mean over x ~ N(mean, covariance).
  double Expected(const VectorD& mean, const MatrixD& covariance) const;
};

// Expected sum of discount^t reward_t over t = 0 .. horizon - 1, as a function of the first state:
// `horizon` backward steps of the Bellman equation. horizon 0 gives 0.
QuadraticValue FiniteHorizonValue(const LinearGaussianSystem& system,
                                  const LinearGaussianPolicy& policy, std::int64_t horizon,
                                  double discount);

// The fixed point of the Bellman equation (a discrete Lyapunov equation for P). Throws NumericError
// unless 0 <= discount < 1 and discount * (spectral radius of A + B K)^2 < 1.
QuadraticValue InfiniteHorizonValue(const LinearGaussianSystem& system,
                                    const LinearGaussianPolicy& policy, double discount);

// log p_true(x' | x, u) - log p_model(x' | x, u): the exact weight of one transition of `model`.
class TransitionLogRatio {
 public:
  // Throws ConfigError unless both systems have the same sizes and positive definite noise.
  TransitionLogRatio(const LinearGaussianSystem& truth, const LinearGaussianSystem& model);

  // state, next_state [n], action [m]
  double operator()(const VectorD& state, const VectorD& action, const VectorD& next_state) const;

 private:
  struct Density {
    explicit Density(const LinearGaussianSystem& system);
    // Up to the constant that both densities share.
    double Log(const VectorD& state, const VectorD& action, const VectorD& next_state) const;

    MatrixD state_matrix;
    MatrixD action_matrix;
    VectorD offset;
    Eigen::LLT<Eigen::MatrixXd> noise;
    double half_log_determinant;
  };

  Density truth_;
  Density model_;
};

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_LINEAR_GAUSSIAN_H_
