#include "ope/fits/linear_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "core/statistics.h"
#include "envs/linear_gaussian_env.h"
#include "ope/fits/logged_rows.h"
#include "tests/ope/linear_gaussian_model.h"
#include "tests/ope/scalar_log.h"
#include "tests/ope/two_state_log.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

const std::shared_ptr<const EnvFactory>& Unbounded() {
  static const std::shared_ptr<const EnvFactory> env =
      MakeLinearGaussianFactory(ScalarLinearGaussian());
  return env;
}

// Both fits on all episodes of a log.
struct Fitted {
  LinearValues fit;
  ValueArrays values;
  Array<double, 2> weights;
};

Fitted FitAll(const EpisodeBatch& log, const Policy& policy, const Estimand& estimand,
              std::shared_ptr<const FeatureMap> features, const LinearValueOptions& options) {
  const EnvSpec& spec = Unbounded()->spec();
  const std::vector<std::int64_t> all = IndexList(log.episodes());
  const LoggedProblem problem{log, policy, spec, estimand};
  LinearValues fit = FitLinearValues(problem, std::move(features), options, 3);
  std::int64_t columns = 0;
  for (const std::int64_t e : all) columns = std::max(columns, log.Length(e));
  columns = estimand.horizon.value_or(columns);
  ValueArrays values = LinearQValues(fit, problem, all, columns, options, 4);
  Array<double, 2> weights = LinearWeights(fit, log, all, estimand, columns);
  return {std::move(fit), std::move(values), std::move(weights)};
}

LinearValueOptions Exact() {
  LinearValueOptions options;
  options.ridge = options.weight_penalty = 1e-12;
  options.target_draws = options.value_draws = 1;
  return options;
}

// With actions that are certain, expectations over draws are exact too.
constexpr std::array<double, 2> kCertain = {1.0, 0.0};

TEST(FitLinearValues, SolvesTheBellmanEquationAndTheFlowOfATabularChain) {
  const TwoStates system(kCertain);
  const EpisodeBatch log = TwoStates::Log();
  const double discount = 0.9;
  const Fitted fitted =
      FitAll(log, TwoStatePolicy(kCertain), FiniteHorizon(TwoStates::kHorizon, discount),
             std::make_shared<TwoStateFeatures>(TwoStates::kHorizon), Exact());
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t < TwoStates::kHorizon; ++t) {
      const std::size_t s = log.observations(log.ObservationRow(e, t), 0) > 0.5f ? 1 : 0;
      const std::size_t a = log.actions(e * TwoStates::kHorizon + t, 0) > 0.5f ? 1 : 0;
      const TwoStates::Table q = system.Q(TwoStates::kHorizon - t, discount);
      ASSERT_NEAR(fitted.values.q(e, t), q[s][a], 1e-8);
      ASSERT_NEAR(fitted.values.v(e, t), q[s][s == 0 ? 1 : 0], 1e-8);
      ASSERT_NEAR(fitted.weights(e, t),
                  system.Visitation(t)[s][a] / TwoStates::LoggedVisitation(t)[s][a], 1e-8);
    }
    ASSERT_EQ(fitted.values.v(e, TwoStates::kHorizon), 0.0);
  }
  EXPECT_NEAR(fitted.fit.value, system.Value(TwoStates::kHorizon, discount), 1e-8);
  EXPECT_NEAR(fitted.fit.mean_weight, 1.0, 1e-8);
  EXPECT_GE(fitted.fit.q_condition, 1.0);
  EXPECT_LT(fitted.fit.q_condition, 1e4);
}

TEST(FitLinearValues, SolvesThemOverAnInfiniteHorizonFromShortEpisodes) {
  const TwoStates system(kCertain);
  const EpisodeBatch log = TwoStates::Log();
  const double discount = 0.8;
  const Fitted fitted = FitAll(log, TwoStatePolicy(kCertain), InfiniteHorizon(discount),
                               std::make_shared<TwoStateFeatures>(1), Exact());
  // 200 steps leave 0.8^200 < 1e-19
  const TwoStates::Table q = system.Q(200, discount);
  TwoStates::Table visited{}, logged{};
  for (std::int64_t t = 0; t < 200; ++t) {
    const TwoStates::Table at = system.Visitation(t);
    const double share = (1.0 - discount) * std::pow(discount, static_cast<double>(t));
    for (const std::size_t s : {0u, 1u}) {
      for (const std::size_t a : {0u, 1u}) visited[s][a] += share * at[s][a];
    }
  }
  for (std::int64_t t = 0; t < TwoStates::kHorizon; ++t) {
    const TwoStates::Table at = TwoStates::LoggedVisitation(t);
    for (const std::size_t s : {0u, 1u}) {
      for (const std::size_t a : {0u, 1u}) logged[s][a] += at[s][a] / TwoStates::kHorizon;
    }
  }
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t < TwoStates::kHorizon; ++t) {
      const std::size_t s = log.observations(log.ObservationRow(e, t), 0) > 0.5f ? 1 : 0;
      const std::size_t a = log.actions(e * TwoStates::kHorizon + t, 0) > 0.5f ? 1 : 0;
      ASSERT_NEAR(fitted.values.q(e, t), q[s][a], 1e-8);
      ASSERT_NEAR(fitted.weights(e, t), visited[s][a] / logged[s][a], 1e-8);
    }
  }
  EXPECT_NEAR(fitted.fit.value, system.Value(200, discount), 1e-8);
  EXPECT_NEAR(fitted.fit.mean_weight, 1.0, 1e-8);
}

// Two episodes of reward 1 at each step, one of one step, the other of two.
Fitted FitTwoEpisodes(std::uint8_t terminated) {
  EpisodeBatch log = ConstantLog(2, 1, 1.0, terminated);
  log.observations = MatrixF::Zero(5, 1);
  log.actions = MatrixF::Zero(3, 1);
  log.rewards.assign(3, 1.0);
  log.offsets = {0, 1, 3};
  log.terminated = {terminated, 0};
  return FitAll(log, ScalarLinearPolicy(0.0, 0.0), FiniteHorizon(2),
                std::make_shared<TwoStateFeatures>(2), [] {
                  LinearValueOptions options = Exact();
                  options.ridge = options.weight_penalty = 1e-9;
                  return options;
                }());
}

TEST(FitLinearValues, EndsEpisodesThatTerminatedAndContinuesThoseThatATimeLimitCut) {
  // half of the episodes end after the first step
  const Fitted ended = FitTwoEpisodes(1);
  EXPECT_NEAR(ended.values.q(0, 0), 1.5, 1e-6);
  EXPECT_NEAR(ended.weights(1, 1), 1.0, 1e-6);
  EXPECT_NEAR(ended.fit.mean_weight, 1.0, 1e-6);
  // the one that goes on stands for both
  const Fitted cut = FitTwoEpisodes(0);
  EXPECT_NEAR(cut.values.q(0, 0), 2.0, 1e-6);
  EXPECT_NEAR(cut.weights(1, 1), 2.0, 1e-6);
  EXPECT_NEAR(cut.fit.mean_weight, 1.0, 1e-6);
}

// Fourier features that suit a scalar system.
FourierOptions SmallFeatures() {
  FourierOptions options;
  options.features = 60;
  options.polynomial = PolynomialTerms::kQuadratic;
  return options;
}

struct ScalarCase {
  ScalarLinearPolicy policy{-0.6, 0.2};
  EpisodeBatch log;
  Estimand estimand;

  Fitted Fit() const {
    return FitAll(log, policy, estimand, MakeFourierFeatures(log, estimand, SmallFeatures(), 5),
                  {});
  }
};

// Errors of the first values, and the mean and spread of what they should be.
struct FirstValueErrors {
  std::vector<double> errors, exact;
};
FirstValueErrors ErrorsOf(const ScalarCase& in, const Fitted& fitted, const QuadraticValue& value) {
  FirstValueErrors out;
  for (std::int64_t e = 0; e < in.log.episodes(); ++e) {
    out.exact.push_back(
        value(VectorD::Constant(1, in.log.observations(in.log.ObservationRow(e, 0), 0))));
    out.errors.push_back(fitted.values.v(e, 0) - out.exact.back());
  }
  return out;
}

TEST(FitLinearValues, LearnsTheFiniteHorizonValueOfALinearGaussianSystem) {
  const ScalarCase in{.log = ScalarLog(5, 1000), .estimand = FiniteHorizon(5)};
  const Fitted fitted = in.Fit();
  const FirstValueErrors out = ErrorsOf(
      in, fitted, FiniteHorizonValue(ScalarLinearGaussian(), in.policy.AsLinearGaussian(), 5, 1.0));
  // a twentieth of the spread over first states in the mean, a quarter at each
  EXPECT_NEAR(Mean(out.errors), 0.0, 0.05 * StandardDeviation(out.exact));
  EXPECT_LT(StandardDeviation(out.errors), 0.25 * StandardDeviation(out.exact));
  // weighted rewards add up to the same value
  double weighted = 0.0;
  for (std::int64_t e = 0; e < 1000; ++e) {
    for (std::int64_t t = 0; t < 5; ++t) {
      weighted += fitted.weights(e, t) * in.log.rewards[static_cast<std::size_t>(5 * e + t)] / 1e3;
    }
  }
  EXPECT_NEAR(weighted, fitted.fit.value, 0.05 * StandardDeviation(out.exact));
  EXPECT_NEAR(fitted.fit.mean_weight, 1.0, 0.02);
}

TEST(FitLinearValues, LearnsTheInfiniteHorizonValueOfALinearGaussianSystem) {
  const ScalarCase in{.log = ScalarLog(20, 250), .estimand = InfiniteHorizon(0.8)};
  const Fitted fitted = in.Fit();
  const FirstValueErrors out = ErrorsOf(
      in, fitted, InfiniteHorizonValue(ScalarLinearGaussian(), in.policy.AsLinearGaussian(), 0.8));
  EXPECT_NEAR(Mean(out.errors), 0.0, 0.05 * StandardDeviation(out.exact));
  EXPECT_LT(StandardDeviation(out.errors), 0.1 * StandardDeviation(out.exact));
  EXPECT_NEAR(fitted.fit.mean_weight, 1.0, 0.01);
}

TEST(FitLinearValues, GivesTheSameBytesForAnyNumberOfThreads) {
  const ScalarCase in{.log = ScalarLog(5, 300), .estimand = FiniteHorizon(5)};
  SetThreads(1);
  const Fitted one = in.Fit();
  SetThreads(2);
  const Fitted two = in.Fit();
  SetThreads(0);
  EXPECT_EQ(one.values.q, two.values.q);
  EXPECT_EQ(one.values.v, two.values.v);
  EXPECT_EQ(one.weights, two.weights);
}

TEST(FitLinearValues, RefusesDependentFeaturesWithoutARidge) {
  const EpisodeBatch log = ConstantLog(4, 3, 1.0, 0);
  LinearValueOptions options = Exact();
  options.ridge = options.weight_penalty = 0.0;
  try {
    FitAll(log, ScalarLinearPolicy(0.0, 0.0), FiniteHorizon(3),
           std::make_shared<TwoStateFeatures>(3), options);
    FAIL();
  } catch (const NumericError& error) {
    EXPECT_THAT(error.what(), HasSubstr("12 features are singular"));
  }
}

}  // namespace
}  // namespace lfiw::ope
