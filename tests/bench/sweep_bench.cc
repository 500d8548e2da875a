#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/array.h"
#include "core/rng.h"
#include "ope/lfiw.h"

// What estimates at all 101 horizons cost against those at one horizon, on the paper's arrays: 10
// repetitions of 100 episodes of 100 steps under 10 classifiers. The rollouts that both share are
// not part of it.

namespace lfiw {
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
double OneHorizon(const Rollouts& rollouts) {
  double value = 0.0;
  std::vector<double> products(kEpisodes), returns(kEpisodes);
  for (std::int64_t r = 0; r < kRepetitions; ++r) {
    for (std::int64_t i = 0; i < kEpisodes; ++i) {
      double sum = 0.0;
      for (const double reward : rollouts.rewards.Row(r, i)) sum += reward;
      returns[static_cast<std::size_t>(i)] = sum;
    }
    for (std::int64_t c = 0; c < kClassifiers; ++c) {
      for (std::int64_t i = 0; i < kEpisodes; ++i) {
        double sum = 0.0;
        for (const double step : rollouts.log_weights.Row(r, c, i)) sum += step;
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
  for (auto _ : state) benchmark::DoNotOptimize(OneHorizon(rollouts));
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
}  // namespace lfiw

BENCHMARK_MAIN();
