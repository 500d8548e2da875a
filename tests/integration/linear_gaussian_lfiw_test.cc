// The whole chain log -> classifiers -> model rollouts -> estimate on systems whose value is known.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/parallel.h"
#include "envs/linear_gaussian_env.h"
#include "models/classifier_fit.h"
#include "ope/judgement/intervals.h"
#include "ope/rollouts/lfiw.h"
#include "ope/rollouts/model_rollout.h"
#include "ope/rollouts/plain_model.h"
#include "policies/collect.h"
#include "tests/envs/independent_shift.h"
#include "tests/ope/linear_gaussian_model.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kSeeds = 100;
constexpr std::int64_t kNeeded = 90;

struct Scenario {
  LinearGaussianSystem truth, model;
  std::int64_t horizon;
  RolloutOptions rollout;
};

// A model that underrates how fast the state decays: biased by several standard errors.
Scenario WrongDecay() {
  Scenario s{ScalarLinearGaussian(), ScalarLinearGaussian(), 5, {}};
  s.model.state_matrix(0, 0) = 1.05;
  s.rollout.episodes = 200;
  return s;
}

struct Estimates {
  double truth = 0.0, plain = 0.0;
  LfiwEstimate lfiw;
};

// Estimates the value of u ~ N(-0.6 x, 0.2^2) from rollouts in the model with the given ratios.
Estimates Estimate(const Scenario& s, const std::vector<const TransitionRatio*>& ratios,
                   std::uint64_t seed) {
  const ScalarLinearPolicy policy(-0.6, 0.2);
  const ScalarLinearModel model(s.model);
  const auto env = MakeLinearGaussianFactory(s.truth);
  const auto functions = env->MakeTaskRules();
  const MatrixF starts = StartStatesFromEnv(*env, s.rollout.repetitions * s.rollout.episodes, seed);
  const ClampRange range{VectorF::Constant(1, -1e9f), VectorF::Constant(1, 1e9f), {}, {}};
  const RolloutInputs inputs{.dynamics = model,
                             .ratios = ratios,
                             .policy = policy,
                             .spec = env->spec(),
                             .functions = *functions,
                             .start_states = starts,
                             .range = range};
  const ModelRollouts rollouts = RollOutInModel(inputs, s.rollout, s.horizon, seed, nullptr);
  const LfiwResult result =
      EstimateLfiw(rollouts.rewards, rollouts.log_weights, ValueOptions{}, LfiwOptions{});
  return {FiniteHorizonValue(s.truth, policy.AsLinearGaussian(), s.horizon, 1.0)
              .Expected(s.truth.initial_mean, s.truth.initial_covariance),
          EstimatePlainModel(rollouts.rewards, ValueOptions{}).value, result.horizons.back()};
}

std::vector<double> RepetitionMeans(const LfiwEstimate& estimate) {
  std::vector<double> means;
  for (std::int64_t r = 0; r < estimate.estimates.shape()[0]; ++r) {
    const auto row = estimate.estimates.Row(r);
    means.push_back(std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size()));
  }
  return means;
}

TEST(LinearGaussianLfiw, WithExactRatiosIntervalsCoverTheValueIn90Of100Seeds) {
  const Scenario s = WrongDecay();
  const ExactRatio ratio(s.truth, s.model);
  std::int64_t covered = 0;
  for (std::int64_t seed = 0; seed < kSeeds; ++seed) {
    const Estimates e = Estimate(s, {&ratio}, static_cast<std::uint64_t>(seed));
    const Interval interval = MonteCarloInterval(RepetitionMeans(e.lfiw));
    covered += interval.low <= e.truth && e.truth <= interval.high;
  }
  EXPECT_GE(covered, kNeeded);
}

// Classifiers of a log of the behavior policy u ~ N(-0.4 x, 0.5^2) against the model.
std::vector<RatioClassifier> TrainClassifiers(const Scenario& s, std::uint64_t seed) {
  const ScalarLinearPolicy behavior(-0.4, 0.5);
  const auto env = MakeLinearGaussianFactory(s.truth);
  const EpisodeBatch log = CollectEpisodes(
      *env, behavior, {.episodes = 400, .horizon = s.horizon, .seed = seed, .purpose = "log"});
  std::vector<std::int64_t> episodes(400);
  std::iota(episodes.begin(), episodes.end(), 0);
  ClassifierOptions options;
  options.network = {.hidden_layers = 2, .width = 32};
  options.fit.steps = 800;
  options.fit.validate_every = 100;
  const ScalarLinearModel model(s.model);
  std::vector<RatioClassifier> classifiers;
  for (std::int64_t c = 0; c < 2; ++c) {
    classifiers.push_back(FitClassifier(log, episodes, model, options, seed, c).classifier);
  }
  return classifiers;
}

TEST(LinearGaussianLfiw, WithTrainedClassifiersBiasShrinksIn90Of100Seeds) {
  const Scenario s = WrongDecay();
  std::atomic<std::int64_t> better = 0;
  ParallelFor(kSeeds, [&](std::int64_t i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const std::vector<RatioClassifier> classifiers = TrainClassifiers(s, seed);
    std::vector<const TransitionRatio*> ratios;
    for (const RatioClassifier& classifier : classifiers) ratios.push_back(&classifier);
    const Estimates e = Estimate(s, ratios, seed);
    better += std::abs(*e.lfiw.value - e.truth) < std::abs(e.plain - e.truth);
  });
  EXPECT_GE(better, kNeeded);
}

// N13 of the known-answer cases: states i.i.d. N(0, 1) in the model and N(0.1, 1) in truth, reward
// the next state. The estimate at H is 0.1 H; a trained ratio comes close.
TEST(LinearGaussianLfiw, IndependentShiftWithATrainedClassifierFollowsTheExactSweep) {
  Scenario s{IndependentShift(0.1), IndependentShift(0.0), 20, {}};
  s.rollout.episodes = 1000;
  const std::vector<RatioClassifier> classifiers = TrainClassifiers(s, 1);
  std::vector<const TransitionRatio*> trained;
  for (const RatioClassifier& classifier : classifiers) trained.push_back(&classifier);
  const ExactRatio exact(s.truth, s.model);
  const Estimates with_exact = Estimate(s, {&exact}, 1);
  const Estimates with_trained = Estimate(s, trained, 1);
  ASSERT_NEAR(with_exact.truth, 2.0, 1e-12);
  // 5 standard errors; the trained ratio may also miss a quarter of the shift
  EXPECT_NEAR(*with_exact.lfiw.value, 2.0, 5 * *with_exact.lfiw.standard_error);
  EXPECT_NEAR(*with_trained.lfiw.value, 2.0, 0.5 + 5 * *with_trained.lfiw.standard_error);
  EXPECT_GT(*with_trained.lfiw.value, with_trained.plain + 1.0);
}

}  // namespace
}  // namespace lfiw::experiments
