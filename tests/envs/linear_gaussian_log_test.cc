#include "envs/linear_gaussian_log.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/parallel.h"

namespace lfiw::envs {
namespace {

// Two states, one action; no term of the transition is zero.
LinearGaussianSystem System() {
  LinearGaussianSystem system = ZeroLinearGaussian(2, 1);
  system.state_matrix << 0.8, 0.2, -0.1, 0.7;
  system.action_matrix << 0.3, 0.5;
  system.offset << 0.1, -0.2;
  system.noise_covariance << 0.2, 0.05, 0.05, 0.1;
  system.initial_mean << 1.0, -1.0;
  system.initial_covariance << 0.3, -0.1, -0.1, 0.2;
  system.state_cost.setIdentity();
  return system;
}

LinearGaussianPolicy Policy() {
  LinearGaussianPolicy policy{MatrixD(1, 2), VectorD::Constant(1, 0.2),
                              MatrixD::Constant(1, 1, 0.25)};
  policy.gain << -0.4, 0.1;
  return policy;
}

TEST(LinearGaussianLog, HasTheExactMomentsAndValue) {
  constexpr std::int64_t kEpisodes = 50'000, kSteps = 6;
  const LinearGaussianLog log = SampleLog(System(), Policy(), kEpisodes, kSteps, Stream(1, "log"));
  const std::vector<StateMoments> exact = StateDistributions(System(), Policy(), kSteps + 1);
  ASSERT_EQ(exact.size(), 7u);
  for (std::int64_t t = 0; t <= kSteps; ++t) {
    VectorD mean = VectorD::Zero(2);
    MatrixD square = MatrixD::Zero(2, 2);
    for (std::int64_t i = 0; i < kEpisodes; ++i) {
      mean += log.State(i, t) / kEpisodes;
      square += log.State(i, t) * log.State(i, t).transpose() / kEpisodes;
    }
    const StateMoments& at = exact[static_cast<std::size_t>(t)];
    EXPECT_LT((mean - at.mean).cwiseAbs().maxCoeff(), 0.02);
    EXPECT_LT((square - mean * mean.transpose() - at.covariance).cwiseAbs().maxCoeff(), 0.02);
  }
  double total = 0.0;
  for (const double reward : log.rewards.flat()) total += reward / kEpisodes;
  const double value = FiniteHorizonValue(System(), Policy(), kSteps, 1.0)
                           .Expected(System().initial_mean, System().initial_covariance);
  EXPECT_NEAR(total, value, 0.01 * std::abs(value));
}

TEST(LinearGaussianLog, AnyNumberOfThreadsGivesTheSameLog) {
  SetThreads(1);
  const LinearGaussianLog one = SampleLog(System(), Policy(), 200, 5, Stream(1, "log"));
  SetThreads(2);
  const LinearGaussianLog two = SampleLog(System(), Policy(), 200, 5, Stream(1, "log"));
  SetThreads(0);
  EXPECT_EQ(one.states, two.states);
  EXPECT_EQ(one.actions, two.actions);
  EXPECT_EQ(one.rewards, two.rewards);
}

}  // namespace
}  // namespace lfiw::envs
