#include "ope/fits/model_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "envs/linear_gaussian_env.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "tests/core/test_dir.h"
#include "tests/ope/linear_gaussian_model.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kModelHorizon = 10;
constexpr std::int64_t kEpisodes = 400;
constexpr double kBehaviorGain = -0.3, kModelGain = -0.6, kModelSpread = 0.3;

// x' = 0.9 x + 0.5 u + 0.1 + N(0, 0.3^2), x0 ~ N(1, 0.5^2), reward -(x^2 + 0.1 u^2).
LinearGaussianSystem Truth() {
  LinearGaussianSystem system = ScalarLinearGaussian();
  system.initial_covariance(0, 0) = 0.25;
  system.offset(0) = 0.1;
  return system;
}

LinearGaussianSystem WrongModel() {
  LinearGaussianSystem system = Truth();
  system.state_matrix(0, 0) = 0.8;
  system.offset(0) = 0.3;
  return system;
}

EpisodeBatch MakeLog() {
  const LinearGaussianSystem system = Truth();
  EpisodeBatch log;
  log.observations.resize(kEpisodes * (kModelHorizon + 1), 1);
  log.actions.resize(kEpisodes * kModelHorizon, 1);
  log.aux.resize(kEpisodes * kModelHorizon, 0);
  for (std::int64_t e = 0; e < kEpisodes; ++e) {
    Stream stream(7, "log", {static_cast<std::uint64_t>(e)});
    double x = 1.0 + 0.5 * stream.Normal();
    for (std::int64_t t = 0; t < kModelHorizon; ++t) {
      const double u = kBehaviorGain * x + kModelSpread * stream.Normal();
      log.observations(e * (kModelHorizon + 1) + t, 0) = static_cast<float>(x);
      log.actions(e * kModelHorizon + t, 0) = static_cast<float>(u);
      const double next = 0.9 * x + 0.5 * u + 0.1 + 0.3 * stream.Normal();
      log.rewards.push_back(-(x * x + 0.1 * u * u));
      x = next;
    }
    log.observations(e * (kModelHorizon + 1) + kModelHorizon, 0) = static_cast<float>(x);
    log.offsets.push_back((e + 1) * kModelHorizon);
    log.terminated.push_back(0);
  }
  return log;
}

ModelValueOptions SmallModelValues() {
  ModelValueOptions options;
  options.starts = 400;
  options.draws = 20;
  options.value.network.width = options.ratio.network.width = 32;
  options.value.fit.steps = options.ratio.fit.steps = 1500;
  return options;
}

struct ModelValueTestProblem {
  explicit ModelValueTestProblem(const LinearGaussianSystem& system)
      : model(system), env(MakeLinearGaussianFactory(system)) {}

  ModelValues Fit(const ModelValueOptions& options = SmallModelValues(),
                  const Policy* behavior = nullptr) const {
    const RolloutInputs inputs{.dynamics = model,
                               .ratios = {},
                               .policy = policy,
                               .spec = env->spec(),
                               .functions = *functions,
                               .start_states = none,
                               .range = range};
    std::vector<std::int64_t> all(static_cast<std::size_t>(log.episodes()));
    for (std::size_t e = 0; e < all.size(); ++e) all[e] = static_cast<std::int64_t>(e);
    return FitModelValues(inputs, behavior, log, all, kModelHorizon, 1.0, options, 3);
  }

  ScalarLinearModel model;
  ScalarLinearPolicy policy{kModelGain, kModelSpread};
  std::shared_ptr<const EnvFactory> env;
  std::unique_ptr<TaskRules> functions = env->MakeTaskRules();
  EpisodeBatch log = MakeLog();
  MatrixF none;
  ClampRange range{VectorF::Constant(1, -1e9f), VectorF::Constant(1, 1e9f), {}, {}};
};

// The value from `t` on at every logged state, in closed form.
double ExactValue(const ModelValueTestProblem& problem, const LinearGaussianSystem& system,
                  double x, std::int64_t t) {
  return FiniteHorizonValue(system, problem.policy.AsLinearGaussian(), kModelHorizon - t,
                            1.0)(VectorD::Constant(1, x));
}

double StateAt(const ModelValueTestProblem& problem, std::int64_t episode, std::int64_t t) {
  return problem.log.observations(problem.log.ObservationRow(episode, t), 0);
}

TEST(StartsPerStep, AreAsManyInAllBeyondAHundredSteps) {
  ModelValueOptions options;
  options.starts = 250;
  EXPECT_EQ(StartsPerStep(options, 20), 250);
  EXPECT_EQ(StartsPerStep(options, 100), 250);
  EXPECT_EQ(StartsPerStep(options, 1000), 25);
  EXPECT_EQ(StartsPerStep(options, 1'000'000), 2);
  options.starts = 2;
  EXPECT_EQ(StartsPerStep(options, 1000), 2);
}

// Rules whose reward is 0, and 1 where only parts that have not seen the episode are asked.
class SeenRules final : public TaskRules {
 public:
  explicit SeenRules(double reward) : reward_(reward) {}
  void Rewards(ConstMatrixRef, ConstMatrixRef, ConstMatrixRef, ConstMatrixRef,
               std::span<double> rewards) const override {
    std::ranges::fill(rewards, reward_);
  }
  void Terminated(ConstMatrixRef, ConstMatrixRef, ConstMatrixRef,
                  std::span<std::uint8_t> terminated) const override {
    std::ranges::fill(terminated, std::uint8_t{0});
  }
  std::unique_ptr<TaskRules> Unseen(std::int64_t) const override {
    return std::make_unique<SeenRules>(1.0);
  }

 private:
  double reward_;
};

TEST(FitModelValues, LooksAheadByRulesThatHaveNotSeenTheEpisode) {
  ModelValueTestProblem problem(WrongModel());
  problem.functions = std::make_unique<SeenRules>(0.0);
  ModelValueOptions options = SmallModelValues();
  options.starts = 20;
  options.value.fit.steps = options.ratio.fit.steps = 20;
  const ModelValues values = problem.Fit(options);
  // nothing follows the last step, and the rollouts of the values after all others earn 0
  EXPECT_EQ(values.values.q(0, kModelHorizon - 1), 1.0);
  EXPECT_EQ(values.values.v(0, kModelHorizon - 1), 1.0);
  EXPECT_NEAR(values.values.q(0, 0), 1.0, 1e-6);
}

TEST(FitModelValues, LooksAheadToTheClosedFormValuesOfTheModel) {
  const ModelValueTestProblem problem(WrongModel());
  const ModelValues values = problem.Fit();
  for (const std::int64_t t : {0, 5, 9}) {
    std::vector<double> errors, exact;
    for (std::int64_t i = 0; i < kEpisodes; ++i) {
      const double x = StateAt(problem, values.episodes[static_cast<std::size_t>(i)], t);
      exact.push_back(ExactValue(problem, WrongModel(), x, t));
      errors.push_back(values.values.v(i, t) - exact.back());
    }
    // in the mean to the noise of 400 rollouts; a fifth of the spread over states at most
    EXPECT_NEAR(Mean(errors), 0.0, 0.15 * StandardDeviation(exact)) << t;
    EXPECT_LT(StandardDeviation(errors), 0.35 * StandardDeviation(exact)) << t;
  }
  EXPECT_EQ(values.values.v(0, kModelHorizon), 0.0);
  EXPECT_EQ(values.alive, std::vector<double>(kModelHorizon, 1.0));
}

// A reward of 1 for every step, and an end wherever the next state is above the 0.9 quantile of the
// standard normal distribution.
class EndsByChance final : public TaskRules {
 public:
  void Rewards(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/,
               ConstMatrixRef /*next_states*/, ConstMatrixRef /*aux*/,
               std::span<double> rewards) const override {
    std::ranges::fill(rewards, 1.0);
  }
  void Terminated(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/, ConstMatrixRef next_states,
                  std::span<std::uint8_t> terminated) const override {
    for (std::size_t i = 0; i < terminated.size(); ++i) {
      terminated[i] = next_states(static_cast<Eigen::Index>(i), 0) > 1.2816f ? 1 : 0;
    }
  }
};

TEST(FitModelValues, EpisodesThatEndEarlyAreNotDrawnMoreOftenThanOthers) {
  LinearGaussianSystem noise = Truth();  // states are noise: nothing tells who will end
  noise.state_matrix(0, 0) = noise.action_matrix(0, 0) = noise.offset(0) = 0.0;
  noise.noise_covariance(0, 0) = 1.0;
  ModelValueTestProblem problem(noise);
  problem.functions = std::make_unique<EndsByChance>();
  ModelValueOptions options = SmallModelValues();
  options.starts = 500;
  const ModelValues values = problem.Fit(options);
  for (const std::int64_t t : {1, 4, 7}) {
    std::vector<double> fitted;
    for (std::int64_t i = 0; i < kEpisodes; ++i) fitted.push_back(values.values.v_fit(i, t));
    const double exact = (1.0 - std::pow(0.9, static_cast<double>(kModelHorizon - t))) / 0.1;
    EXPECT_NEAR(Mean(fitted), exact, 0.03 * exact) << t;
  }
}

TEST(FitModelValues, LearnsTheRatioOfModeledToLoggedStates) {
  // with the true dynamics as model: means and variances of x_t under both policies are known
  const ModelValueTestProblem problem(Truth());
  const ModelValues values = problem.Fit();
  const auto moments = [](double gain, std::int64_t t) {
    double mean = 1.0, variance = 0.25;
    for (std::int64_t k = 0; k < t; ++k) {
      const double a = 0.9 + 0.5 * gain;
      mean = a * mean + 0.1;
      variance = a * a * variance + 0.25 * kModelSpread * kModelSpread + 0.09;
    }
    return std::pair(mean, variance);
  };
  const auto log_density = [](double x, std::pair<double, double> m) {
    return -0.5 * std::log(m.second) - 0.5 * (x - m.first) * (x - m.first) / m.second;
  };
  std::vector<double> errors;
  for (std::int64_t i = 0; i < kEpisodes; ++i) {
    const double x = StateAt(problem, values.episodes[static_cast<std::size_t>(i)], 6);
    errors.push_back(values.state_log_ratios(i, 6) - log_density(x, moments(kModelGain, 6)) +
                     log_density(x, moments(kBehaviorGain, 6)));
  }
  double squares = 0.0;
  for (const double error : errors) squares += error * error / kEpisodes;
  EXPECT_LT(std::sqrt(squares), 0.35);  // nats; the ratios themselves have a spread of 0.8
  EXPECT_GT(*values.ratio_auc, 0.55);
}

TEST(FitModelValues, TheRatioOfTheBehaviorPolicyToItselfIsOneHoweverWrongTheModel) {
  const ModelValueTestProblem problem(WrongModel());
  ModelValueOptions options = SmallModelValues();
  options.starts = 20;
  const ModelValues values = problem.Fit(options, &problem.policy);
  double largest = 0.0;
  for (const double log_ratio : values.state_log_ratios.flat()) {
    largest = std::max(largest, std::abs(log_ratio));
  }
  EXPECT_LT(largest, 0.1);  // the logged states would give ratios of several nats
}

// log pi_e - log pi_b of the logged actions.
Array<double, 2> ActionLogRatios(const ModelValueTestProblem& problem, const ModelValues& values) {
  Array<double, 2> out({kEpisodes, kModelHorizon});
  for (std::int64_t i = 0; i < kEpisodes; ++i) {
    const std::int64_t e = values.episodes[static_cast<std::size_t>(i)];
    for (std::int64_t t = 0; t < kModelHorizon; ++t) {
      const double x = StateAt(problem, e, t), u = problem.log.actions(e * kModelHorizon + t, 0);
      const double z_e = (u - kModelGain * x) / kModelSpread;
      const double z_b = (u - kBehaviorGain * x) / kModelSpread;
      out(i, t) = 0.5 * (z_b * z_b - z_e * z_e);
    }
  }
  return out;
}

double Sum(const EpisodeTerms& terms) {
  double value = 0.0;
  for (std::int64_t k = 0; k < terms.numerators.shape()[1]; ++k) {
    double numerator = 0.0, denominator = 0.0;
    for (std::int64_t i = 0; i < terms.numerators.shape()[0]; ++i) {
      numerator += terms.numerators(i, k);
      denominator += terms.denominators(i, k);
    }
    value += numerator / denominator;
  }
  return value;
}

TEST(FitModelValues, CorrectsAWrongModelInADoublyRobustEstimate) {
  const ModelValueTestProblem problem(WrongModel());
  const ModelValues values = problem.Fit();
  EstimatorInputs in;
  in.rewards = Array<double, 2>({kEpisodes, kModelHorizon});
  for (std::int64_t i = 0; i < kEpisodes; ++i) {
    for (std::int64_t t = 0; t < kModelHorizon; ++t) {
      in.rewards(i, t) = problem.log.rewards[static_cast<std::size_t>(
          values.episodes[static_cast<std::size_t>(i)] * kModelHorizon + t)];
    }
  }
  in.lengths.assign(kEpisodes, kModelHorizon);
  in.terminated.assign(kEpisodes, 0);
  in.values["model"] = values.values;
  in.log_ratios["model_visitation"] = values.state_log_ratios;
  in.log_ratios["action"] = ActionLogRatios(problem, values);
  in.model_alive = values.alive;

  const auto exact = [&](const LinearGaussianSystem& system) {
    return FiniteHorizonValue(system, problem.policy.AsLinearGaussian(), kModelHorizon, 1.0)
        .Expected(system.initial_mean, system.initial_covariance);
  };
  const double truth = exact(Truth()), model_error = exact(WrongModel()) - truth;
  DoublyRobustLfiwOptions options;
  options.state_power = options.action_power = 1.0;
  const double estimate = Sum(EstimateDoublyRobustLfiw(in, {}, options).terms);
  EXPECT_GT(std::abs(model_error), 0.5);
  EXPECT_LT(std::abs(estimate - truth), 0.25 * std::abs(model_error));
}

TEST(FitModelValues, GivesTheSameBytesForAnyNumberOfThreads) {
  const ModelValueTestProblem problem(Truth());
  ModelValueOptions options = SmallModelValues();
  options.value.fit.steps = options.ratio.fit.steps = 50;
  SetThreads(1);
  const ModelValues one = problem.Fit(options);
  SetThreads(2);
  const ModelValues two = problem.Fit(options);
  SetThreads(0);
  EXPECT_EQ(one.values.q, two.values.q);
  EXPECT_EQ(one.values.v, two.values.v);
  EXPECT_EQ(one.state_log_ratios, two.state_log_ratios);
}

TEST(FitModelValues, RefusesTooFewEpisodesForItsFolds) {
  ModelValueTestProblem problem(Truth());
  const std::vector<std::int64_t> three = {0, 1, 2};
  problem.log = SelectEpisodes(problem.log, three);
  try {
    problem.Fit();
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 episodes for 2 folds"));
  }
}

}  // namespace
}  // namespace lfiw::ope
