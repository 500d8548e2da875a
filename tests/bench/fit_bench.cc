// Rates of training steps on one thread against what the core can do in float (fused multiply-adds
// in registers) and against a 500 x 500 x 128 matrix product, and the gain of a second thread.
// Every ratio is taken within one run, since clocks drift. Rates are by thread CPU time, the gain
// by wall-clock time: it needs a machine with two idle cores.
#include <benchmark/benchmark.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <numeric>
#include <vector>

#include "core/bfloat16_product.h"
#include "core/matrix_product.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/run/fma_peak.h"
#include "models/classifier_fit.h"
#include "models/dynamics_fit.h"

namespace lfiw::models {
namespace {

double WallSeconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// CPU time of the calling thread: what one-threaded work takes, whoever else uses the machine.
double ThreadSeconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

// FLOP/s of one thread, of MatrixProduct on [128, 500] x [500, 500] and of the core at most, each
// over some 50 ms.
struct Rates {
  double product = 0.0, peak = 0.0;
  Rates& operator+=(const Rates& other) {
    product += other.product;
    peak += other.peak;
    return *this;
  }
};

Rates MeasureRates() {
  constexpr std::int64_t kRows = 128, kWidth = 500, kRepeats = 100, kRounds = 1'000'000;
  static const MatrixF a = MatrixF::Random(kRows, kWidth), b = MatrixF::Random(kWidth, kWidth);
  MatrixF c(kRows, kWidth);
  const double seconds = ThreadSeconds([&] {
    for (std::int64_t i = 0; i < kRepeats; ++i) {
      MatrixProduct(kRows, kWidth, kWidth, {a.data(), kWidth}, {b.data(), kWidth}, c.data(),
                    kWidth);
      benchmark::DoNotOptimize(c.data());
    }
  });
  std::int64_t fused = 0;
  const double peak_seconds = ThreadSeconds([&] { fused = ComputeFusedMultiplyAdds(kRounds); });
  return {kRepeats * 2.0 * kRows * kWidth * kWidth / seconds,
          static_cast<double>(fused) / peak_seconds};
}

// A log of the given dimensions filled with noise: 40 episodes of 50 steps.
EpisodeBatch NoiseLog(std::int64_t obs_dim, std::int64_t action_dim, std::int64_t aux_dim) {
  constexpr std::int64_t kEpisodes = 40, kLength = 50;
  EpisodeBatch log;
  Stream stream(1, "noise log");
  const auto fill = [&stream](MatrixF& values, std::int64_t rows, std::int64_t cols) {
    values.resize(rows, cols);
    stream.FillNormal(std::span(values.data(), static_cast<std::size_t>(values.size())));
  };
  fill(log.observations, kEpisodes * (kLength + 1), obs_dim);
  fill(log.actions, kEpisodes * kLength, action_dim);
  fill(log.aux, kEpisodes * kLength, aux_dim);
  log.rewards.assign(kEpisodes * kLength, 0.0);
  log.terminated.assign(kEpisodes, 0);
  for (std::int64_t e = 0; e < kEpisodes; ++e) log.offsets.push_back((e + 1) * kLength);
  return log;
}

std::vector<std::int64_t> AllEpisodes(const EpisodeBatch& log) {
  std::vector<std::int64_t> episodes(static_cast<std::size_t>(log.episodes()));
  std::iota(episodes.begin(), episodes.end(), std::int64_t{0});
  return episodes;
}

DynamicsOptions PaperDynamics(std::int64_t members, std::int64_t steps, Precision precision) {
  DynamicsOptions options;
  options.members = members;
  options.network.precision = precision;
  options.fit.steps = steps;
  return options;
}

double ParameterCount(double inputs, double outputs) {
  return (inputs + 1) * 500 + 2 * 501 * 500 + 501 * outputs;
}

// `rates` were taken twice in every iteration, before and after.
void Report(benchmark::State& state, double step_rate, const Rates& rates) {
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["peak_gflops"] = 0.5 * rates.peak / rounds * 1e-9;
  state.counters["step_gflops"] = step_rate / rounds * 1e-9;
  state.counters["of_peak"] = step_rate / (0.5 * rates.peak);
  state.counters["of_product"] = step_rate / (0.5 * rates.product);
}

// Arguments: obs_dim, action_dim, aux_dim, and the Precision of products.
void BM_DynamicsStep(benchmark::State& state) {
  SetThreads(1);
  constexpr std::int64_t kSteps = 200;
  const std::int64_t obs_dim = state.range(0), action_dim = state.range(1), aux = state.range(2);
  const auto precision = static_cast<Precision>(state.range(3));
  const EpisodeBatch log = NoiseLog(obs_dim, action_dim, aux);
  const auto episodes = AllEpisodes(log);
  const double flop = 6.0 * 128.0 * kSteps *
                      ParameterCount(static_cast<double>(obs_dim + action_dim),
                                     2.0 * static_cast<double>(obs_dim + aux));
  double step_rate = 0.0;
  Rates rates;
  for (auto _ : state) {
    rates += MeasureRates();
    const double seconds =
        ThreadSeconds([&] { FitDynamics(log, episodes, PaperDynamics(1, kSteps, precision), 1); });
    rates += MeasureRates();
    step_rate += flop / seconds;
    state.SetIterationTime(seconds / kSteps);
  }
  Report(state, step_rate, rates);
}

// Arguments as above. The time includes drawing the generated half of the batch from an ensemble of
// five, which `of_peak` does not count as work; `all_of_peak` does (2 x parameters x rows).
void BM_ClassifierStep(benchmark::State& state) {
  SetThreads(1);
  constexpr std::int64_t kSteps = 120;
  const std::int64_t obs_dim = state.range(0), action_dim = state.range(1), aux = state.range(2);
  const auto precision = static_cast<Precision>(state.range(3));
  const EpisodeBatch log = NoiseLog(obs_dim, action_dim, aux);
  const auto episodes = AllEpisodes(log);
  const DynamicsFit dynamics =
      FitDynamics(log, episodes, PaperDynamics(5, 1, Precision::kFloat), 1);
  ClassifierOptions options;
  options.fit.steps = kSteps;
  options.network.precision = precision;
  const auto inputs = static_cast<double>(obs_dim + action_dim);
  const auto outcomes = static_cast<double>(obs_dim + aux);
  const double flop = 6.0 * 250.0 * kSteps * ParameterCount(inputs + outcomes, 1.0);
  const double generated = 2.0 * 125.0 * kSteps * ParameterCount(inputs, 2.0 * outcomes);
  double step_rate = 0.0;
  Rates rates;
  for (auto _ : state) {
    rates += MeasureRates();
    const double seconds =
        ThreadSeconds([&] { FitClassifier(log, episodes, dynamics.ensemble, options, 1, 0); });
    rates += MeasureRates();
    step_rate += flop / seconds;
    state.SetIterationTime(seconds / kSteps);
  }
  Report(state, step_rate, rates);
  state.counters["all_of_peak"] = step_rate / (0.5 * rates.peak) * (1.0 + generated / flop);
}

// Two members on one thread against two threads: `speedup`.
void BM_MembersOnTwoThreads(benchmark::State& state) {
  const EpisodeBatch log = NoiseLog(17, 6, 1);
  const auto episodes = AllEpisodes(log);
  double one = 0.0, two = 0.0;
  for (auto _ : state) {
    const auto fit = [&] {
      FitDynamics(log, episodes, PaperDynamics(2, 200, Precision::kAuto), 1);
    };
    SetThreads(1);
    one += WallSeconds(fit);
    SetThreads(2);
    const double seconds = WallSeconds(fit);
    two += seconds;
    state.SetIterationTime(seconds);
  }
  SetThreads(0);
  state.counters["speedup"] = one / two;
}

void TasksAndPrecisions(benchmark::internal::Benchmark* bench,
                        const std::vector<std::vector<std::int64_t>>& tasks) {
  for (std::vector<std::int64_t> arguments : tasks) {
    arguments.push_back(static_cast<std::int64_t>(Precision::kFloat));
    bench->Args(arguments);
    if (!HasBFloat16Products()) continue;
    arguments.back() = static_cast<std::int64_t>(Precision::kBFloat16);
    bench->Args(arguments);
  }
  bench->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_DynamicsStep)->Apply([](benchmark::internal::Benchmark* bench) {
  TasksAndPrecisions(bench, {{8, 2, 1}, {17, 6, 1}, {376, 17, 0}});
});
BENCHMARK(BM_ClassifierStep)->Apply([](benchmark::internal::Benchmark* bench) {
  TasksAndPrecisions(bench, {{17, 6, 1}, {376, 17, 0}});
});
BENCHMARK(BM_MembersOnTwoThreads)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lfiw::models

BENCHMARK_MAIN();
