#include "ope/fits/linear_gaussian_fits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "core/error.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "ope/fits/closed_form_inputs.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Estimand Over(std::optional<std::int64_t> horizon, double discount) {
  Estimand estimand;
  estimand.horizon = horizon;
  estimand.discount = discount;
  return estimand;
}

// Three states, two actions; no term is zero.
LinearGaussianSystem System() {
  LinearGaussianSystem system = ZeroLinearGaussian(3, 2);
  system.state_matrix << 0.8, 0.1, 0.0, -0.1, 0.7, 0.2, 0.1, 0.0, 0.6;
  system.action_matrix << 0.3, 0.1, 0.0, 0.4, -0.2, 0.2;
  system.offset << 0.1, -0.2, 0.05;
  system.noise_covariance << 0.2, 0.05, 0.0, 0.05, 0.1, 0.02, 0.0, 0.02, 0.15;
  system.initial_mean << 1.0, -1.0, 0.5;
  system.initial_covariance.diagonal() << 0.3, 0.2, 0.1;
  system.state_cost.diagonal() << 1.0, 0.5, 0.2;
  system.action_cost.diagonal() << 0.1, 0.2;
  system.state_reward << 0.3, 0.0, 0.1;
  system.action_reward << 0.2, -0.1;
  system.next_state_reward << 0.5, 0.2, 0.0;
  return system;
}

LinearGaussianPolicy PolicyOf(double gain, double variance) {
  LinearGaussianPolicy policy{MatrixD::Zero(2, 3), VectorD::Constant(2, 0.1),
                              variance * MatrixD::Identity(2, 2)};
  policy.gain << gain, 0.1, 0.0, 0.0, gain, -0.1;
  return policy;
}

constexpr std::int64_t kSteps = 8;
constexpr double kDiscount = 0.95;

struct GaussianProblem {
  LinearGaussianSystem system = System();
  LinearGaussianPolicy behavior = PolicyOf(-0.2, 0.3);
  LinearGaussianPolicy evaluation = PolicyOf(-0.4, 0.2);

  LinearGaussianLog Log(std::int64_t episodes) const {
    return SampleLog(system, behavior, episodes, kSteps, Stream(3, "log"));
  }
  EstimatorInputs Inputs(std::int64_t episodes, const Estimand& estimand,
                         const ModelRolloutCounts& counts = {}) const {
    return MakeLinearGaussianInputs(system, behavior, evaluation, Log(episodes), estimand, counts,
                                    11);
  }
  double Truth(std::int64_t horizon) const {
    return FiniteHorizonValue(system, evaluation, horizon, kDiscount)
        .Expected(system.initial_mean, system.initial_covariance);
  }
  double InfiniteTruth() const {
    return InfiniteHorizonValue(system, evaluation, kDiscount)
        .Expected(system.initial_mean, system.initial_covariance);
  }
};

double MeanFirstValue(const ValueArrays& values) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < values.v.shape()[0]; ++i) sum += values.v(i, 0);
  return sum / static_cast<double>(values.v.shape()[0]);
}

TEST(LinearGaussianFits, LeastSquaresFindTheSystem) {
  const GaussianProblem problem;
  const LinearGaussianSystem fitted = FitLinearGaussian(problem.Log(20'000), problem.system);
  EXPECT_NO_THROW(Validate(fitted));
  EXPECT_LT((fitted.state_matrix - problem.system.state_matrix).norm(), 0.02);
  EXPECT_LT((fitted.action_matrix - problem.system.action_matrix).norm(), 0.02);
  EXPECT_LT((fitted.offset - problem.system.offset).norm(), 0.02);
  EXPECT_LT((fitted.noise_covariance - problem.system.noise_covariance).norm(), 0.02);
  EXPECT_LT((fitted.initial_covariance - problem.system.initial_covariance).norm(), 0.02);
  EXPECT_EQ(fitted.state_cost, problem.system.state_cost);
}

TEST(LinearGaussianFits, ValuesInTheTrueSystemAreExact) {
  // under a policy without spread Q of its action is V, which another recursion gives
  const GaussianProblem problem;
  LinearGaussianPolicy sure = problem.evaluation;
  sure.covariance.setZero();
  const LinearGaussianLog log = SampleLog(problem.system, sure, 5, kSteps, Stream(1, "log"));
  for (const std::optional<std::int64_t> horizon : {std::optional(kSteps), {}}) {
    const ValueArrays values =
        LinearGaussianValues(problem.system, sure, log, Over(horizon, kDiscount));
    EXPECT_EQ(values.v_fit, values.v);
    for (std::int64_t i = 0; i < log.episodes(); ++i) {
      for (std::int64_t t = 0; t < kSteps; ++t) EXPECT_NEAR(values.q(i, t), values.v(i, t), 1e-10);
      EXPECT_TRUE(!horizon || values.v(i, kSteps) == 0.0);
    }
  }
}

TEST(LinearGaussianFits, TheScalarSystemHasItsKnownValues) {
  const LinearGaussianSystem system = ScalarLinearGaussian();
  const LinearGaussianPolicy policy{MatrixD::Constant(1, 1, -0.6), VectorD::Zero(1),
                                    MatrixD::Constant(1, 1, 0.04)};
  const LinearGaussianLog log = SampleLog(system, policy, 4000, 50, Stream(2, "log"));
  const ValueArrays finite = LinearGaussianValues(system, policy, log, Over(50, 0.95));
  const ValueArrays infinite = LinearGaussianValues(system, policy, log, Over({}, 0.95));
  EXPECT_NEAR(finite.v(7, 0), -4.390692491, 5e-10);
  EXPECT_NEAR(infinite.v(7, 0), -4.645957447, 5e-10);
  EXPECT_NEAR(QuadraticFqeValues(log, policy, Over(50, 0.95)).v(7, 0), -4.390692491, 0.08);
  EXPECT_NEAR(QuadraticFqeValues(log, policy, Over({}, 0.95)).v(7, 0), -4.645957447, 0.08);
}

TEST(LinearGaussianFits, FqeIsExactWithoutNoise) {
  // with x' a function of (x, u) and a policy without spread every target is a quadratic function
  GaussianProblem problem;
  problem.system.noise_covariance.setZero();
  problem.evaluation.covariance.setZero();
  const LinearGaussianLog log = problem.Log(60);
  for (const std::optional<std::int64_t> horizon : {std::optional(kSteps), {}}) {
    const Estimand estimand = Over(horizon, kDiscount);
    const ValueArrays exact =
        LinearGaussianValues(problem.system, problem.evaluation, log, estimand);
    const ValueArrays fitted = QuadraticFqeValues(log, problem.evaluation, estimand);
    for (std::size_t k = 0; k < exact.q.flat().size(); ++k) {
      EXPECT_NEAR(fitted.q.flat()[k], exact.q.flat()[k], 1e-7);
    }
    for (std::size_t k = 0; k < exact.v.flat().size(); ++k) {
      EXPECT_NEAR(fitted.v.flat()[k], exact.v.flat()[k], 1e-7);
    }
  }
}

TEST(LinearGaussianFits, ModelAndFqeApproachTheTruth) {
  const GaussianProblem problem;
  const EstimatorInputs finite = problem.Inputs(20'000, Over(kSteps, kDiscount));
  EXPECT_NEAR(MeanFirstValue(finite.values.at("model")), problem.Truth(kSteps), 0.05);
  EXPECT_NEAR(MeanFirstValue(finite.values.at("fqe")), problem.Truth(kSteps), 0.1);
  const EstimatorInputs infinite = problem.Inputs(20'000, Over({}, kDiscount));
  EXPECT_NEAR(MeanFirstValue(infinite.values.at("model")), problem.InfiniteTruth(), 0.1);
  EXPECT_NEAR(MeanFirstValue(infinite.values.at("fqe")), problem.InfiniteTruth(), 0.2);
  EXPECT_THAT(infinite.missing.at("rollouts"), HasSubstr("value.horizon"));
}

TEST(LinearGaussianFits, WeightsHaveMeanOneAndTheValueOfFqe) {
  const GaussianProblem problem;
  const LinearGaussianLog log = problem.Log(300);
  for (const std::optional<std::int64_t> horizon : {std::optional<std::int64_t>(kSteps), {}}) {
    const Estimand estimand = Over(horizon, kDiscount);
    const Array<double, 2> w = QuadraticWeights(log, problem.evaluation, estimand);
    const ValueArrays fqe = QuadraticFqeValues(log, problem.evaluation, estimand);
    double sum = 0.0, weighted = 0.0, first = 0.0;
    for (std::int64_t i = 0; i < log.episodes(); ++i) {
      first += fqe.v(i, 0) / 300.0;
      double factor = horizon ? 1.0 : 1.0 / ((1.0 - kDiscount) * kSteps);
      for (std::int64_t t = 0; t < kSteps; ++t) {
        sum += w(i, t) / (300.0 * kSteps);
        weighted += factor * w(i, t) * log.rewards(i, t) / 300.0;
        if (horizon) factor *= kDiscount;
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-9);
    EXPECT_NEAR(weighted, first, 1e-8 * std::abs(first));
  }
}

TEST(LinearGaussianFits, RatiosHaveMeanOneAndCarryTheLogToTheEvaluationPolicy) {
  const GaussianProblem problem;
  const EstimatorInputs in = problem.Inputs(40'000, Over(kSteps, kDiscount));
  const Array<double, 2>& action = in.log_ratios.at("action");
  const Array<double, 2>& state = in.log_ratios.at("visitation");
  double value = 0.0;
  for (std::int64_t t = 0; t < kSteps; ++t) {
    double weight = 0.0;
    for (std::int64_t i = 0; i < in.episodes(); ++i) {
      const double w = std::exp(action(i, t) + state(i, t)) / static_cast<double>(in.episodes());
      weight += w;
      value += std::pow(kDiscount, t) * w * in.rewards(i, t);
    }
    EXPECT_NEAR(weight, 1.0, 0.05);
  }
  EXPECT_NEAR(value, problem.Truth(kSteps), 0.15);
}

TEST(LinearGaussianFits, ModelVisitationApproachesTheExactRatios) {
  const GaussianProblem problem;
  const EstimatorInputs in = problem.Inputs(40'000, Over(kSteps, kDiscount));
  double squares = 0.0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    for (std::int64_t t = 0; t < kSteps; ++t) {
      const double error =
          in.log_ratios.at("model_visitation")(i, t) - in.log_ratios.at("visitation")(i, t);
      squares += error * error;
    }
  }
  EXPECT_LT(std::sqrt(squares / (1000.0 * kSteps)), 0.03);
}

TEST(LinearGaussianFits, RolloutsHaveTheModelsValueAndTheirWeightsGiveTheTruth) {
  const GaussianProblem problem;
  const EstimatorInputs in =
      problem.Inputs(40, Over(kSteps, kDiscount), {.repetitions = 40, .episodes = 2000});
  // rewards of rollouts start from the log's first states; so must the truth
  const StateMoments first = [&] {
    const LinearGaussianSystem fitted = FitLinearGaussian(problem.Log(40), problem.system);
    return StateMoments{fitted.initial_mean, fitted.initial_covariance};
  }();
  const double truth = FiniteHorizonValue(problem.system, problem.evaluation, kSteps, kDiscount)
                           .Expected(first.mean, first.covariance);
  const LfiwResult result =
      EstimateLfiw(in.model_rewards, in.model_log_weights, Over(kSteps, kDiscount), {});
  const LfiwEstimate &plain = result.horizons.front(), &weighted = result.horizons.back();
  EXPECT_NEAR(*weighted.value, truth, 5.0 * *weighted.standard_error);
  EXPECT_GT(std::abs(*plain.value - truth), 5.0 * *plain.standard_error);
}

TEST(LinearGaussianFits, EstimatorsTakeTheInputsAsTheyAre) {
  const GaussianProblem problem;
  const EstimatorInputs in = problem.Inputs(2000, Over(kSteps, kDiscount));
  const Estimator estimator{
      .name = "exact",
      .summary = {},
      .horizons = HorizonSupport::kBoth,
      .needs = {"model", "fqe", "action", "visitation", "model_visitation", "rollouts"},
      .estimate = [](const EstimatorInputs& inputs, const Estimand& estimand) {
        return EstimateDoublyRobustLfiw(inputs, estimand, {});
      }};
  const Estimate estimate = RunEstimator(estimator, in, Over(kSteps, kDiscount));
  ASSERT_TRUE(estimate.value) << estimate.reason;
  EXPECT_NEAR(*estimate.value, problem.Truth(kSteps), 5.0 * *estimate.standard_error);
}

TEST(LinearGaussianFits, WhatCannotBeHadIsSaid) {
  GaussianProblem problem;
  problem.evaluation.covariance.setZero();
  const EstimatorInputs in = problem.Inputs(12, Over(kSteps, kDiscount));
  EXPECT_THAT(in.missing.at("action"), HasSubstr("deterministic"));
  EXPECT_THAT(in.missing.at("fqe"), HasSubstr("21 features of states and actions, more than"));
  EXPECT_TRUE(in.log_ratios.contains("visitation"));
  EXPECT_THAT([&] { ActionLogRatios(problem.behavior, problem.evaluation, problem.Log(3)); },
              ThrowsMessage<PolicyError>(HasSubstr("covariance is singular")));
  EXPECT_THAT([&] { problem.Inputs(50, Over(9, kDiscount)); },
              ThrowsMessage<DataError>(HasSubstr("8 steps, expected at least the horizon of 9")));
}

TEST(LinearGaussianFits, ThePolicyOfTheLogHasRatiosOfExactlyOne) {
  const GaussianProblem problem;
  const Array<double, 2> ratios =
      ActionLogRatios(problem.behavior, problem.behavior, problem.Log(10));
  for (const double ratio : ratios.flat()) EXPECT_EQ(ratio, 0.0);
}

}  // namespace
}  // namespace lfiw::ope
