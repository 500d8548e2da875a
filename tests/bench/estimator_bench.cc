#include <benchmark/benchmark.h>

#include <cmath>

#include "core/parallel.h"
#include "core/rng.h"
#include "ope/episode_terms.h"
#include "ope/estimators/doubly_robust.h"
#include "ope/estimators/importance_sampling.h"
#include "ope/judgement/psis.h"
#include "ope/rollouts/log_weights.h"

// Estimators and what judges them, all on one thread, so that the CPU time of other tools can be
// held against theirs (tests/bench/peers).

namespace lfiw::ope {
namespace {

// One million transitions: 10,000 episodes of 100 steps. The same shapes as in
// peers/numpy_estimators.py.
constexpr std::int64_t kEpisodes = 10'000;
constexpr std::int64_t kSteps = 100;

EstimatorInputs MakeInputs(std::int64_t episodes, std::int64_t steps) {
  Stream stream(1, "estimator bench");
  EstimatorInputs in;
  in.rewards = Array<double, 2>({episodes, steps});
  in.lengths.assign(static_cast<std::size_t>(episodes), steps);
  in.terminated.assign(static_cast<std::size_t>(episodes), 0);
  in.log_ratios["action"] = Array<double, 2>({episodes, steps});
  in.values["fqe"] = {
      Array<double, 2>({episodes, steps}), Array<double, 2>({episodes, steps + 1}), {}};
  stream.FillNormal(in.rewards.flat());
  stream.FillNormal(in.log_ratios["action"].flat());
  for (double& ratio : in.log_ratios["action"].flat()) ratio *= 0.05;
  stream.FillNormal(in.values["fqe"].q.flat());
  stream.FillNormal(in.values["fqe"].v.flat());
  return in;
}

const EstimatorInputs& Inputs() {
  static const EstimatorInputs inputs = MakeInputs(kEpisodes, kSteps);
  return inputs;
}

Estimand Horizon(std::int64_t steps = kSteps) {
  Estimand estimand;
  estimand.horizon = steps;
  estimand.discount = 0.99;
  return estimand;
}

void Estimators(benchmark::State& state, const std::string& name) {
  const Estimator estimator = StandardEstimators().Find(name);
  const EstimatorInputs& inputs = Inputs();
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimator.estimate(inputs, Horizon()));
  }
  state.SetItemsProcessed(state.iterations() * kEpisodes * kSteps);
}

// With checks of every array, value and standard error.
void Checked(benchmark::State& state, const std::string& name) {
  const Estimator estimator = StandardEstimators().Find(name);
  for (auto _ : state) {
    benchmark::DoNotOptimize(RunEstimator(estimator, Inputs(), Horizon()));
  }
}

// A million rounds of a bandit: episodes of one step.
void Bandit(benchmark::State& state, const std::string& name) {
  static const EstimatorInputs inputs = MakeInputs(kEpisodes * kSteps, 1);
  const Estimator estimator = StandardEstimators().Find(name);
  for (auto _ : state) benchmark::DoNotOptimize(RunEstimator(estimator, inputs, Horizon(1)));
}

// Pareto smoothed and normalized log-weights; the argument is their number.
void Psis(benchmark::State& state) {
  std::vector<double> log_weights(static_cast<std::size_t>(state.range(0)));
  Stream(1, "psis bench").FillNormal(log_weights);
  for (auto _ : state) {
    std::vector<double> smoothed = log_weights;
    benchmark::DoNotOptimize(SmoothTail(smoothed));
    benchmark::DoNotOptimize(SelfNormalize(smoothed));
  }
}

void Bootstrap(benchmark::State& state, const std::string& name) {
  const EpisodeTerms terms = StandardEstimators().Find(name).estimate(Inputs(), Horizon()).terms;
  for (auto _ : state) {
    benchmark::DoNotOptimize(BootstrapValues(terms, state.range(0), 1));
  }
  state.counters["columns"] = static_cast<double>(terms.columns());
}

BENCHMARK_CAPTURE(Estimators, is, "is")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Estimators, wis, "wis")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Estimators, pdis, "pdis")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Estimators, wpdis, "wpdis")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Estimators, wdr, "wdr_fqe")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Estimators, magic, "magic_fqe")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Checked, is, "is")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Checked, wis, "wis")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Checked, pdis, "pdis")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Checked, wpdis, "wpdis")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Checked, wdr, "wdr_fqe")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Bandit, is, "is")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Bandit, wis, "wis")->Unit(benchmark::kMillisecond);
BENCHMARK(Psis)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Bootstrap, is, "is")->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Bootstrap, wis, "wis")->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Bootstrap, wdr, "wdr_fqe")->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lfiw::ope

int main(int argc, char** argv) {
  lfiw::core::SetThreads(1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
