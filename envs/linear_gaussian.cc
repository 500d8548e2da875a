#include "envs/linear_gaussian.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>
#include <string_view>

#include "core/error.h"

namespace lfiw::envs {
namespace {

void CheckShape(std::string_view field, Eigen::Index rows, Eigen::Index cols,
                Eigen::Index expected_rows, Eigen::Index expected_cols) {
  if (rows != expected_rows || cols != expected_cols) {
    Throw<ConfigError>("linear-Gaussian system: {} has shape [{}, {}], expected [{}, {}]", field,
                       rows, cols, expected_rows, expected_cols);
  }
}

void CheckSymmetric(std::string_view field, const MatrixD& matrix) {
  const double asymmetry =
      matrix.size() == 0 ? 0.0 : (matrix - matrix.transpose()).cwiseAbs().maxCoeff();
  if (!(asymmetry <= 1e-12 * (1.0 + matrix.cwiseAbs().sum()))) {
    Throw<ConfigError>(
        "linear-Gaussian system: {} is asymmetric by {}, expected a symmetric matrix", field,
        asymmetry);
  }
}

void CheckCovariance(std::string_view field, const MatrixD& matrix) {
  CheckSymmetric(field, matrix);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix, Eigen::EigenvaluesOnly);
  const double smallest = solver.eigenvalues()(0);
  if (smallest < -1e-12 * (1.0 + matrix.trace())) {
    Throw<ConfigError>(
        "linear-Gaussian system: {} has the eigenvalue {}, expected a positive semidefinite matrix",
        field, smallest);
  }
}

// A system under a policy: x' = F x + f + N(0, W), and the mean reward of a step from x.
struct ClosedLoop {
  MatrixD transition;  // F
  VectorD offset;      // f
  MatrixD noise;       // W
  QuadraticValue reward;
};

ClosedLoop Close(const LinearGaussianSystem& system, const LinearGaussianPolicy& policy) {
  Validate(system);
  const Eigen::Index n = system.state_dim();
  const Eigen::Index m = system.action_dim();
  CheckShape("policy gain", policy.gain.rows(), policy.gain.cols(), m, n);
  CheckShape("policy offset", policy.offset.size(), 1, m, 1);
  CheckShape("policy covariance", policy.covariance.rows(), policy.covariance.cols(), m, m);
  CheckCovariance("policy covariance", policy.covariance);

  const MatrixD& gain = policy.gain;
  const MatrixD& action_cost = system.action_cost;
  ClosedLoop loop;
  loop.transition = system.state_matrix + system.action_matrix * gain;
  loop.offset = system.action_matrix * policy.offset + system.offset;
  loop.noise = system.noise_covariance +
               system.action_matrix * policy.covariance * system.action_matrix.transpose();
  loop.reward.quadratic = -(system.state_cost + gain.transpose() * action_cost * gain);
  loop.reward.linear =
      system.state_reward +
      gain.transpose() * (system.action_reward - 2.0 * (action_cost * policy.offset)) +
      loop.transition.transpose() * system.next_state_reward;
  loop.reward.constant = policy.offset.dot(system.action_reward - action_cost * policy.offset) -
                         (action_cost * policy.covariance).trace() +
                         system.next_state_reward.dot(loop.offset);
  return loop;
}

// E[value(x')] for x' = F x + f + N(0, W), as a function of x.
QuadraticValue ExpectedNext(const ClosedLoop& loop, const QuadraticValue& value) {
  QuadraticValue next;
  next.quadratic = loop.transition.transpose() * value.quadratic * loop.transition;
  next.linear =
      loop.transition.transpose() * (2.0 * (value.quadratic * loop.offset) + value.linear);
  next.constant = value.Expected(loop.offset, loop.noise);
  return next;
}

QuadraticValue BellmanBackup(const ClosedLoop& loop, const QuadraticValue& value, double discount) {
  const QuadraticValue next = ExpectedNext(loop, value);
  return {.quadratic = loop.reward.quadratic + discount * next.quadratic,
          .linear = loop.reward.linear + discount * next.linear,
          .constant = loop.reward.constant + discount * next.constant};
}

// The solution of P = M + discount F'PF by doubling: k rounds sum the first 2^k terms of the
// series.
MatrixD SolveLyapunov(const MatrixD& transition, const MatrixD& m, double discount) {
  MatrixD sum = m;
  MatrixD power = std::sqrt(discount) * transition;
  constexpr int kRounds = 64;
  for (int round = 0; round < kRounds && power.squaredNorm() > 0.0; ++round) {
    sum += MatrixD(power.transpose() * sum * power);
    power = MatrixD(power * power);
  }
  return sum;
}

// Gelfand's formula, lim |F^k|^(1/k), over k = 2^round; powers are kept at norm 1 in between.
double SpectralRadius(const MatrixD& matrix) {
  MatrixD power = matrix;
  double log_radius = 0.0;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    const double norm = power.norm();
    if (norm == 0.0) return 0.0;
    log_radius += std::ldexp(std::log(norm), -round);
    power = MatrixD(power * power) / (norm * norm);
  }
  return std::exp(log_radius);
}

}  // namespace

LinearGaussianSystem ZeroLinearGaussian(std::int64_t state_dim, std::int64_t action_dim) {
  return {.state_matrix = MatrixD::Zero(state_dim, state_dim),
          .action_matrix = MatrixD::Zero(state_dim, action_dim),
          .offset = VectorD::Zero(state_dim),
          .noise_covariance = MatrixD::Zero(state_dim, state_dim),
          .initial_mean = VectorD::Zero(state_dim),
          .initial_covariance = MatrixD::Zero(state_dim, state_dim),
          .state_cost = MatrixD::Zero(state_dim, state_dim),
          .action_cost = MatrixD::Zero(action_dim, action_dim),
          .state_reward = VectorD::Zero(state_dim),
          .action_reward = VectorD::Zero(action_dim),
          .next_state_reward = VectorD::Zero(state_dim)};
}

LinearGaussianSystem ScalarLinearGaussian() {
  LinearGaussianSystem system = ZeroLinearGaussian(1, 1);
  system.state_matrix(0, 0) = 0.9;
  system.action_matrix(0, 0) = 0.5;
  system.noise_covariance(0, 0) = 0.3 * 0.3;
  system.initial_mean(0) = 1.0;
  system.state_cost(0, 0) = 1.0;
  system.action_cost(0, 0) = 0.1;
  return system;
}

void Validate(const LinearGaussianSystem& system) {
  const Eigen::Index n = system.state_dim();
  const Eigen::Index m = system.action_dim();
  if (n < 1 || m < 1) {
    Throw<ConfigError>(
        "linear-Gaussian system: {} state and {} action dimensions, expected at least 1 of each", n,
        m);
  }
  const auto shape = [](std::string_view field, const auto& value, Eigen::Index rows,
                        Eigen::Index cols) {
    CheckShape(field, value.rows(), value.cols(), rows, cols);
  };
  shape("state_matrix", system.state_matrix, n, n);
  shape("action_matrix", system.action_matrix, n, m);
  shape("offset", system.offset, n, 1);
  shape("noise_covariance", system.noise_covariance, n, n);
  shape("initial_mean", system.initial_mean, n, 1);
  shape("initial_covariance", system.initial_covariance, n, n);
  shape("state_cost", system.state_cost, n, n);
  shape("action_cost", system.action_cost, m, m);
  shape("state_reward", system.state_reward, n, 1);
  shape("action_reward", system.action_reward, m, 1);
  shape("next_state_reward", system.next_state_reward, n, 1);
  CheckSymmetric("state_cost", system.state_cost);
  CheckSymmetric("action_cost", system.action_cost);
  CheckCovariance("noise_covariance", system.noise_covariance);
  CheckCovariance("initial_covariance", system.initial_covariance);
}

double LinearGaussianReward(const LinearGaussianSystem& system, const VectorD& state,
                            const VectorD& action, const VectorD& next_state) {
  return system.state_reward.dot(state) - state.dot(system.state_cost * state) +
         system.action_reward.dot(action) - action.dot(system.action_cost * action) +
         system.next_state_reward.dot(next_state);
}

double QuadraticValue::operator()(const VectorD& state) const {
  return state.dot(quadratic * state) + linear.dot(state) + constant;
}

double QuadraticValue::Expected(const VectorD& mean, const MatrixD& covariance) const {
  return (*this)(mean) + (quadratic * covariance).trace();
}

QuadraticValue FiniteHorizonValue(const LinearGaussianSystem& system,
                                  const LinearGaussianPolicy& policy, std::int64_t horizon,
                                  double discount) {
  const ClosedLoop loop = Close(system, policy);
  const Eigen::Index n = system.state_dim();
  QuadraticValue value{.quadratic = MatrixD::Zero(n, n), .linear = VectorD::Zero(n)};
  for (std::int64_t t = 0; t < horizon; ++t) value = BellmanBackup(loop, value, discount);
  return value;
}

QuadraticValue InfiniteHorizonValue(const LinearGaussianSystem& system,
                                    const LinearGaussianPolicy& policy, double discount) {
  const ClosedLoop loop = Close(system, policy);
  const double radius = SpectralRadius(loop.transition);
  const double growth = discount * radius * radius;
  if (!(discount >= 0.0 && discount < 1.0 && growth < 1.0)) {
    Throw<NumericError>(
        "linear-Gaussian system: the infinite-horizon value needs 0 <= discount < 1 and "
        "discount * (spectral radius)^2 < 1, seen discount {} and product {}",
        discount, growth);
  }
  const Eigen::Index n = system.state_dim();
  QuadraticValue value{.quadratic = SolveLyapunov(loop.transition, loop.reward.quadratic, discount),
                       .linear = VectorD::Zero(n)};
  // with P known the backup is affine in v, then in c: solve for each fixed point
  const VectorD linear = BellmanBackup(loop, value, discount).linear;
  const Eigen::MatrixXd system_of_linear =
      Eigen::MatrixXd::Identity(n, n) - discount * loop.transition.transpose();
  value.linear = system_of_linear.partialPivLu().solve(linear);
  value.constant = BellmanBackup(loop, value, discount).constant / (1.0 - discount);
  return value;
}

TransitionLogRatio::TransitionLogRatio(const LinearGaussianSystem& truth,
                                       const LinearGaussianSystem& model)
    : truth_(truth), model_(model) {
  if (truth.state_dim() != model.state_dim() || truth.action_dim() != model.action_dim()) {
    Throw<ConfigError>(
        "linear-Gaussian ratio: the model has {} states and {} actions, expected {} and {}",
        model.state_dim(), model.action_dim(), truth.state_dim(), truth.action_dim());
  }
}

double TransitionLogRatio::operator()(const VectorD& state, const VectorD& action,
                                      const VectorD& next_state) const {
  return truth_.Log(state, action, next_state) - model_.Log(state, action, next_state);
}

TransitionLogRatio::Density::Density(const LinearGaussianSystem& system) {
  Validate(system);
  state_matrix = system.state_matrix;
  action_matrix = system.action_matrix;
  offset = system.offset;
  noise.compute(system.noise_covariance);
  if (noise.info() != Eigen::Success) {
    Throw<ConfigError>(
        "linear-Gaussian ratio: noise_covariance is singular, expected a positive definite matrix");
  }
  half_log_determinant = noise.matrixLLT().diagonal().array().log().sum();
}

double TransitionLogRatio::Density::Log(const VectorD& state, const VectorD& action,
                                        const VectorD& next_state) const {
  const VectorD residual = next_state - state_matrix * state - action_matrix * action - offset;
  return -0.5 * noise.matrixL().solve(residual).squaredNorm() - half_log_determinant;
}

}  // namespace lfiw::envs
