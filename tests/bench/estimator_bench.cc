#include <benchmark/benchmark.h>

#include <cmath>

#include "core/rng.h"
#include "ope/episode_terms.h"
#include "ope/estimators/doubly_robust.h"
#include "ope/estimators/importance_sampling.h"

namespace lfiw::ope {
namespace {

// One million transitions: 10,000 episodes of 100 steps. The same shapes as in estimator_bench.py.
constexpr std::int64_t kEpisodes = 10'000;
constexpr std::int64_t kSteps = 100;

EstimatorInputs MakeInputs() {
  Stream stream(1, "estimator bench");
  EstimatorInputs in;
  in.rewards = Array<double, 2>({kEpisodes, kSteps});
  in.lengths.assign(kEpisodes, kSteps);
  in.terminated.assign(kEpisodes, 0);
  in.log_ratios["action"] = Array<double, 2>({kEpisodes, kSteps});
  in.values["fqe"] = {
      Array<double, 2>({kEpisodes, kSteps}), Array<double, 2>({kEpisodes, kSteps + 1}), {}};
  stream.FillNormal(in.rewards.flat());
  stream.FillNormal(in.log_ratios["action"].flat());
  for (double& ratio : in.log_ratios["action"].flat()) ratio *= 0.05;
  stream.FillNormal(in.values["fqe"].q.flat());
  stream.FillNormal(in.values["fqe"].v.flat());
  return in;
}

const EstimatorInputs& Inputs() {
  static const EstimatorInputs inputs = MakeInputs();
  return inputs;
}

Estimand Horizon() {
  Estimand estimand;
  estimand.horizon = kSteps;
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
BENCHMARK_CAPTURE(Estimators, magic, "magic_fqe")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Checked, wpdis, "wpdis")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Checked, wdr, "wdr_fqe")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Bootstrap, wis, "wis")->Arg(10'000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Bootstrap, wdr, "wdr_fqe")
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace lfiw::ope

BENCHMARK_MAIN();
