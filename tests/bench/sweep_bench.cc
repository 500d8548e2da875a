#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "core/arrays/array.h"
#include "core/index_list.h"
#include "core/rng.h"
#include "envs/env.h"
#include "envs/env_registry.h"
#include "models/classifier_fit.h"
#include "models/dynamics_fit.h"
#include "ope/rollouts/lfiw.h"
#include "ope/rollouts/model_rollout.h"
#include "policies/gaussian_mlp_policy.h"

// What estimates at all 101 horizons cost against those at one horizon, on the paper's arrays: 10
// repetitions of 100 episodes of 100 steps under 10 classifiers. RolloutsWeightsAndSweep counts the
// rollouts and weights that both share, on HalfCheetah's dimensions with the paper's networks; the
// other benchmarks leave them out.

namespace lfiw::ope {
namespace {

constexpr std::int64_t kRepetitions = 10, kClassifiers = 10, kEpisodes = 100, kSteps = 100;

struct Rollouts {
  Array<double, 3> rewards{{kRepetitions, kEpisodes, kSteps}};
  Array<double, 4> log_weights{{kRepetitions, kClassifiers, kEpisodes, kSteps}};

  Rollouts() {
    Stream stream(1, "sweep bench");
    stream.FillNormal(rewards.flat());
    stream.FillNormal(log_weights.flat());
    for (double& value : log_weights.flat()) value *= 0.1;
  }
};

// The least that one self-normalized trajectory estimate at H = T can cost, without standard
// errors, ESS or checks.
double OneHorizon(const Array<double, 3>& rewards, const Array<double, 4>& log_weights) {
  double value = 0.0;
  std::vector<double> products(kEpisodes), returns(kEpisodes);
  for (std::int64_t r = 0; r < kRepetitions; ++r) {
    for (std::int64_t i = 0; i < kEpisodes; ++i) {
      double sum = 0.0;
      for (const double reward : rewards.Row(r, i)) sum += reward;
      returns[static_cast<std::size_t>(i)] = sum;
    }
    for (std::int64_t c = 0; c < kClassifiers; ++c) {
      for (std::int64_t i = 0; i < kEpisodes; ++i) {
        double sum = 0.0;
        for (const double step : log_weights.Row(r, c, i)) sum += step;
        products[static_cast<std::size_t>(i)] = sum;
      }
      const double top = *std::max_element(products.begin(), products.end());
      double weighted = 0.0, total = 0.0;
      for (std::size_t i = 0; i < products.size(); ++i) {
        const double weight = std::exp(products[i] - top);
        weighted += weight * returns[i];
        total += weight;
      }
      value += weighted / total;
    }
  }
  return value / static_cast<double>(kRepetitions * kClassifiers);
}

void BareEstimateAtOneHorizon(benchmark::State& state) {
  const Rollouts rollouts;
  for (auto _ : state) {
    benchmark::DoNotOptimize(OneHorizon(rollouts.rewards, rollouts.log_weights));
  }
}

void SweepOfAllHorizons(benchmark::State& state, LfiwVariant variant, KhatHorizons khat) {
  const Rollouts rollouts;
  LfiwOptions options;
  options.variant = variant;
  options.khat = khat;
  for (auto _ : state) {
    benchmark::DoNotOptimize(EstimateLfiw(rollouts.rewards, rollouts.log_weights, {}, options));
  }
}

double WallSeconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A log of HalfCheetah's dimensions filled with noise, 20 episodes of 50 steps.
EpisodeBatch NoiseLog(const EnvSpec& spec) {
  constexpr std::int64_t kLogEpisodes = 20, kLength = 50;
  EpisodeBatch log;
  Stream stream(1, "noise log");
  const auto fill = [&stream](MatrixF& values, std::int64_t rows, std::int64_t cols) {
    values.resize(rows, cols);
    stream.FillNormal(std::span(values.data(), static_cast<std::size_t>(values.size())));
  };
  fill(log.observations, kLogEpisodes * (kLength + 1), spec.obs_dim);
  fill(log.actions, kLogEpisodes * kLength, spec.action_dim);
  fill(log.aux, kLogEpisodes * kLength, spec.aux_dim());
  log.rewards.assign(kLogEpisodes * kLength, 0.0);
  log.terminated.assign(kLogEpisodes, 0);
  for (std::int64_t e = 0; e < kLogEpisodes; ++e) log.offsets.push_back((e + 1) * kLength);
  return log;
}

GaussianMlpPolicy SomePolicy(const EnvSpec& spec) {
  TanhMlp mlp({spec.obs_dim, 64, 64, spec.action_dim});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.Initialize(Stream(1, "policy"), 1.4, 0.01, parameters.data());
  return {mlp, parameters, VectorF::Zero(spec.action_dim), ObservationNormalizer(spec.obs_dim, 10),
          "bench"};
}

void RolloutsWeightsAndSweep(benchmark::State& state) {
  const auto env = FindEnv("HalfCheetah");
  const EnvSpec& spec = env->spec();
  const EpisodeBatch log = NoiseLog(spec);
  std::vector<std::int64_t> episodes = IndexList(log.episodes());
  // one gradient step each: how well they fit does not change what they cost
  DynamicsOptions dynamics_options;
  dynamics_options.fit.steps = 1;
  const DynamicsFit dynamics = FitDynamics(log, episodes, dynamics_options, 1);
  ClassifierOptions classifier_options;
  classifier_options.fit.steps = 1;
  std::vector<RatioClassifier> classifiers;
  for (std::int64_t c = 0; c < kClassifiers; ++c) {
    classifiers.push_back(
        FitClassifier(log, episodes, dynamics.ensemble, classifier_options, 1, c).classifier);
  }
  std::vector<const TransitionRatio*> ratios;
  for (const RatioClassifier& classifier : classifiers) ratios.push_back(&classifier);
  const GaussianMlpPolicy policy = SomePolicy(spec);
  const auto functions = env->MakeTaskRules();
  const MatrixF starts = StartStatesFromLog(log, kRepetitions * kEpisodes, 1);
  const ClampRange range = RangeOfLog(log, 0.1);
  const RolloutInputs inputs{dynamics.ensemble, ratios, policy, spec, *functions, starts, range};

  double shared = 0.0, one = 0.0, all = 0.0;
  for (auto _ : state) {
    ModelRollouts rollouts;
    shared += WallSeconds([&] { rollouts = RollOutInModel(inputs, {}, kSteps, 1, nullptr); });
    one += WallSeconds(
        [&] { benchmark::DoNotOptimize(OneHorizon(rollouts.rewards, rollouts.log_weights)); });
    all += WallSeconds([&] {
      benchmark::DoNotOptimize(EstimateLfiw(rollouts.rewards, rollouts.log_weights, {}, {}));
    });
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["rollouts_and_weights_s"] = shared / rounds;
  state.counters["one_horizon_ms"] = 1e3 * one / rounds;
  state.counters["sweep_ms"] = 1e3 * all / rounds;
  state.counters["all_of_one"] = (shared + all) / (shared + one);
}

BENCHMARK(RolloutsWeightsAndSweep)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();
BENCHMARK(BareEstimateAtOneHorizon)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SweepOfAllHorizons, trajectory, LfiwVariant::kTrajectory, KhatHorizons::kListed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SweepOfAllHorizons, per_decision, LfiwVariant::kPerDecision,
                  KhatHorizons::kListed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SweepOfAllHorizons, stepwise, LfiwVariant::kStepwise, KhatHorizons::kListed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SweepOfAllHorizons, stepwise_batch, LfiwVariant::kStepwiseBatch,
                  KhatHorizons::kListed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SweepOfAllHorizons, trajectory_with_khat, LfiwVariant::kTrajectory,
                  KhatHorizons::kAll)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lfiw::ope

BENCHMARK_MAIN();
