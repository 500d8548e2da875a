#include "envs/linear_gaussian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/rng.h"
#include "tests/envs/independent_shift.h"

namespace lfiw::envs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

MatrixD RandomMatrix(Stream& stream, Eigen::Index rows, Eigen::Index cols, double scale) {
  MatrixD matrix(rows, cols);
  for (double& value : matrix.reshaped()) value = scale * stream.Normal();
  return matrix;
}

MatrixD RandomCovariance(Stream& stream, Eigen::Index n) {
  const MatrixD root = RandomMatrix(stream, n, n, 0.4);
  return root * root.transpose() + 0.1 * MatrixD::Identity(n, n);
}

// A system and a policy in which no term is zero.
LinearGaussianSystem RandomSystem(Stream& stream, Eigen::Index n, Eigen::Index m) {
  return {.state_matrix = RandomMatrix(stream, n, n, 0.3),
          .action_matrix = RandomMatrix(stream, n, m, 0.3),
          .offset = RandomMatrix(stream, n, 1, 0.3),
          .noise_covariance = RandomCovariance(stream, n),
          .initial_mean = RandomMatrix(stream, n, 1, 1.0),
          .initial_covariance = RandomCovariance(stream, n),
          .state_cost = RandomCovariance(stream, n),
          .action_cost = RandomCovariance(stream, m),
          .state_reward = RandomMatrix(stream, n, 1, 1.0),
          .action_reward = RandomMatrix(stream, m, 1, 1.0),
          .next_state_reward = RandomMatrix(stream, n, 1, 1.0)};
}

LinearGaussianPolicy RandomPolicy(Stream& stream, Eigen::Index n, Eigen::Index m) {
  return {.gain = RandomMatrix(stream, m, n, 0.3),
          .offset = RandomMatrix(stream, m, 1, 0.5),
          .covariance = RandomCovariance(stream, m)};
}

LinearGaussianPolicy ScalarPolicy(double gain, double standard_deviation) {
  return {.gain = MatrixD::Constant(1, 1, gain),
          .offset = VectorD::Zero(1),
          .covariance = MatrixD::Constant(1, 1, standard_deviation * standard_deviation)};
}

// The slow obvious value: forward in time, the mean and covariance of x_t and of u_t give the mean
// reward of every step.
double ValueByMoments(const LinearGaussianSystem& s, const LinearGaussianPolicy& policy,
                      std::int64_t horizon, double discount) {
  VectorD mean = s.initial_mean;
  MatrixD covariance = s.initial_covariance;
  double value = 0.0;
  for (std::int64_t t = 0; t < horizon; ++t) {
    const VectorD action = policy.gain * mean + policy.offset;
    const MatrixD action_covariance =
        policy.gain * covariance * policy.gain.transpose() + policy.covariance;
    const MatrixD closed = s.state_matrix + s.action_matrix * policy.gain;
    const VectorD next = s.state_matrix * mean + s.action_matrix * action + s.offset;
    const double reward = LinearGaussianReward(s, mean, action, next) -
                          (s.state_cost * covariance).trace() -
                          (s.action_cost * action_covariance).trace();
    value += std::pow(discount, static_cast<double>(t)) * reward;
    covariance = closed * covariance * closed.transpose() + s.noise_covariance +
                 s.action_matrix * policy.covariance * s.action_matrix.transpose();
    mean = next;
  }
  return value;
}

TEST(LinearGaussianValue, EqualsTheKnownScalarCase) {
  const LinearGaussianSystem system = ScalarLinearGaussian();
  const LinearGaussianPolicy policy = ScalarPolicy(-0.6, 0.2);
  EXPECT_NEAR(InfiniteHorizonValue(system, policy, 0.95)(system.initial_mean), -4.645957447, 5e-10);
  EXPECT_NEAR(FiniteHorizonValue(system, policy, 50, 0.95)(system.initial_mean), -4.390692491,
              5e-10);
}

TEST(LinearGaussianValue, OfHorizonZeroIsZero) {
  const QuadraticValue value =
      FiniteHorizonValue(ScalarLinearGaussian(), ScalarPolicy(-0.6, 0.2), 0, 0.95);
  EXPECT_EQ(value(VectorD::Constant(1, 3.0)), 0.0);
}

TEST(LinearGaussianValue, EqualsForwardMomentsInSeveralDimensions) {
  for (std::uint64_t k = 0; k < 5; ++k) {
    Stream stream(3, "moments", {k});
    const LinearGaussianSystem system = RandomSystem(stream, 3, 2);
    const LinearGaussianPolicy policy = RandomPolicy(stream, 3, 2);
    for (const double discount : {0.0, 0.9, 1.0}) {
      const double expected = ValueByMoments(system, policy, 12, discount);
      const double value = FiniteHorizonValue(system, policy, 12, discount)
                               .Expected(system.initial_mean, system.initial_covariance);
      EXPECT_NEAR(value, expected, 1e-10 * (1.0 + std::abs(expected)));
    }
  }
}

TEST(LinearGaussianValue, FiniteHorizonTendsToTheInfiniteOne) {
  Stream stream(3, "limit");
  const LinearGaussianSystem system = RandomSystem(stream, 4, 2);
  const LinearGaussianPolicy policy = RandomPolicy(stream, 4, 2);
  const QuadraticValue infinite = InfiniteHorizonValue(system, policy, 0.9);
  const QuadraticValue finite = FiniteHorizonValue(system, policy, 2000, 0.9);
  EXPECT_LT((infinite.quadratic - finite.quadratic).norm(), 1e-10);
  EXPECT_LT((infinite.linear - finite.linear).norm(), 1e-10);
  EXPECT_NEAR(infinite.constant, finite.constant, 1e-9);
}

TEST(LinearGaussianValue, RefusesAnInfiniteValue) {
  // closed loop 0.9 + 0.5 * 0.4 = 1.1, and 0.95 * 1.1^2 > 1
  EXPECT_THAT([] { InfiniteHorizonValue(ScalarLinearGaussian(), ScalarPolicy(0.4, 0.2), 0.95); },
              ThrowsMessage<NumericError>(HasSubstr("product 1.1495")));
  EXPECT_THROW(InfiniteHorizonValue(ScalarLinearGaussian(), ScalarPolicy(-0.6, 0.2), 1.0),
               NumericError);
}

TEST(LinearGaussianValue, AcceptsARotationAsLongAsItShrinks) {
  // spectral radius 0.99 * sqrt(1 / 0.95), all eigenvalues complex
  LinearGaussianSystem system = ZeroLinearGaussian(2, 1);
  system.state_cost.setIdentity();
  const LinearGaussianPolicy policy = {
      .gain = MatrixD::Zero(1, 2), .offset = VectorD::Zero(1), .covariance = MatrixD::Zero(1, 1)};
  const double radius = 0.99 / std::sqrt(0.95);
  system.state_matrix << 0.6, -0.8, 0.8, 0.6;
  system.state_matrix *= radius;
  const VectorD state = VectorD::Constant(2, 1.0);
  EXPECT_NEAR(InfiniteHorizonValue(system, policy, 0.95)(state), -2.0 / (1.0 - 0.99 * 0.99), 1e-10);
  system.state_matrix *= 1.011;
  EXPECT_THROW(InfiniteHorizonValue(system, policy, 0.95), NumericError);
}

TEST(LinearGaussianValue, OfTheIndependentShiftIsHorizonTimesMean) {
  const LinearGaussianSystem system = IndependentShift(0.1);
  for (const std::int64_t horizon : {0, 20, 100}) {
    EXPECT_NEAR(FiniteHorizonValue(system, ScalarPolicy(-1.0, 0.5), horizon, 1.0)
                    .Expected(system.initial_mean, system.initial_covariance),
                0.1 * static_cast<double>(horizon), 1e-12);
  }
}

TEST(LinearGaussianReward, SumsQuadraticAndLinearTerms) {
  LinearGaussianSystem system = ZeroLinearGaussian(1, 1);
  system.state_cost(0, 0) = 2.0;
  system.action_cost(0, 0) = 3.0;
  system.state_reward(0) = 5.0;
  system.action_reward(0) = 7.0;
  system.next_state_reward(0) = 11.0;
  const auto scalar = [](double x) { return VectorD::Constant(1, x); };
  EXPECT_EQ(LinearGaussianReward(system, scalar(1), scalar(10), scalar(100)),
            -2.0 - 300.0 + 5.0 + 70.0 + 1100.0);
}

TEST(Validate, NamesTheFaultyField) {
  const auto fault = [](auto spoil) {
    LinearGaussianSystem system = ZeroLinearGaussian(2, 1);
    spoil(system);
    return [system] { Validate(system); };
  };
  EXPECT_THAT(fault([](auto& s) { s.offset = VectorD::Zero(3); }),
              ThrowsMessage<ConfigError>(HasSubstr("offset has shape [3, 1], expected [2, 1]")));
  EXPECT_THAT(fault([](auto& s) { s.state_cost(0, 1) = 1.0; }),
              ThrowsMessage<ConfigError>(HasSubstr("state_cost is asymmetric by 1")));
  EXPECT_THAT(fault([](auto& s) { s.noise_covariance(0, 0) = -1.0; }),
              ThrowsMessage<ConfigError>(HasSubstr("noise_covariance has the eigenvalue -1")));
  EXPECT_THAT(fault([](auto& s) { s.state_cost(0, 0) = std::nan(""); }),
              ThrowsMessage<ConfigError>(HasSubstr("state_cost")));
}

TEST(TransitionLogRatio, IsThatOfTwoNormalsForTheIndependentShift) {
  const double d = 0.1;
  const TransitionLogRatio ratio(IndependentShift(d), IndependentShift(0.0));
  for (const double x : {-3.0, 0.0, 0.7, 5.0}) {
    EXPECT_NEAR(
        ratio(VectorD::Constant(1, 9.0), VectorD::Constant(1, -4.0), VectorD::Constant(1, x)),
        d * x - 0.5 * d * d, 1e-14);
  }
}

TEST(TransitionLogRatio, EqualsTheDifferenceOfExplicitDensities) {
  const auto log_density = [](const LinearGaussianSystem& s, const VectorD& x, const VectorD& u,
                              const VectorD& next) {
    const VectorD r = next - (s.state_matrix * x + s.action_matrix * u + s.offset);
    const Eigen::MatrixXd covariance = s.noise_covariance;
    return -0.5 * r.dot(covariance.inverse() * r) -
           0.5 * std::log((2.0 * std::numbers::pi * covariance).determinant());
  };
  Stream stream(3, "ratio");
  const LinearGaussianSystem truth = RandomSystem(stream, 3, 2);
  const LinearGaussianSystem model = RandomSystem(stream, 3, 2);
  const TransitionLogRatio ratio(truth, model);
  for (int k = 0; k < 5; ++k) {
    const VectorD x = RandomMatrix(stream, 3, 1, 1.0);
    const VectorD u = RandomMatrix(stream, 2, 1, 1.0);
    const VectorD next = RandomMatrix(stream, 3, 1, 1.0);
    EXPECT_NEAR(ratio(x, u, next), log_density(truth, x, u, next) - log_density(model, x, u, next),
                1e-10);
  }
}

TEST(TransitionLogRatio, HasMeanOneUnderTheModel) {
  // midpoint rule over +-12 standard deviations
  const LinearGaussianSystem truth = ScalarLinearGaussian();
  LinearGaussianSystem model = truth;
  model.state_matrix(0, 0) = 0.8;
  model.noise_covariance(0, 0) = 0.2;
  const TransitionLogRatio ratio(truth, model);
  const VectorD x = VectorD::Constant(1, 1.3);
  const VectorD u = VectorD::Constant(1, -0.4);
  const double mean = 0.8 * 1.3 - 0.5 * 0.4;
  const double sd = std::sqrt(0.2);
  constexpr int kCells = 4000;
  double total = 0.0;
  for (int i = 0; i < kCells; ++i) {
    const double z = -12.0 + 24.0 * (i + 0.5) / kCells;
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
    total += density * std::exp(ratio(x, u, VectorD::Constant(1, mean + sd * z))) * 24.0 / kCells;
  }
  EXPECT_NEAR(total, 1.0, 1e-10);
}

TEST(TransitionLogRatio, RefusesSingularNoiseAndUnequalSizes) {
  EXPECT_THAT([] { TransitionLogRatio(ZeroLinearGaussian(1, 1), IndependentShift(0.0)); },
              ThrowsMessage<ConfigError>(HasSubstr("noise_covariance is singular")));
  Stream stream(3, "sizes");
  const LinearGaussianSystem larger = RandomSystem(stream, 2, 1);
  EXPECT_THAT([&] { TransitionLogRatio(larger, IndependentShift(0.0)); },
              ThrowsMessage<ConfigError>(HasSubstr("1 states and 1 actions, expected 2 and 1")));
}

}  // namespace
}  // namespace lfiw::envs
