// What a gradient step of fitted Q evaluation costs on one thread, by CPU time: two layers of 256
// units, batches of 256, HalfCheetah's dimensions and a policy of 64-64 units.
#include <benchmark/benchmark.h>

#include <ctime>
#include <vector>

#include "core/logs/episode_batch.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "envs/env.h"
#include "envs/env_registry.h"
#include "ope/fits/fqe.h"
#include "policies/gaussian_mlp_policy.h"

namespace lfiw::ope {
namespace {

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Noise of an environment's dimensions: 20 episodes of 100 steps.
EpisodeBatch NoiseLog(const EnvSpec& spec) {
  constexpr std::int64_t kEpisodes = 20, kLength = 100;
  EpisodeBatch log;
  Stream stream(1, "noise log");
  const auto fill = [&stream](MatrixF& values, std::int64_t rows, std::int64_t cols) {
    values.resize(rows, cols);
    stream.FillNormal(std::span(values.data(), static_cast<std::size_t>(values.size())));
  };
  fill(log.observations, kEpisodes * (kLength + 1), spec.obs_dim);
  fill(log.actions, kEpisodes * kLength, spec.action_dim);
  log.aux.resize(kEpisodes * kLength, 0);
  log.rewards.resize(kEpisodes * kLength);
  stream.FillNormal(std::span<double>(log.rewards));
  log.terminated.assign(kEpisodes, 0);
  for (std::int64_t e = 0; e < kEpisodes; ++e) log.offsets.push_back((e + 1) * kLength);
  return log;
}

GaussianMlpPolicy SomePolicy(const EnvSpec& spec) {
  TanhMlp mlp({spec.obs_dim, 64, 64, spec.action_dim});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.Initialize(Stream(1, "policy"), 1.4, 0.01, parameters.data());
  return {mlp, parameters, VectorF::Zero(spec.action_dim), ObservationNormalizer(spec.obs_dim, 10),
          "bench"};
}

// The time of a step is the difference between fits of many steps and of few, which leaves out what
// a fit costs besides. The argument is the number of actions drawn for each target.
void FqeStep(benchmark::State& state) {
  SetThreads(1);
  constexpr std::int64_t kFew = 50, kMany = 450;
  const auto env = FindEnv("HalfCheetah");
  const EpisodeBatch log = NoiseLog(env->spec());
  const GaussianMlpPolicy policy = SomePolicy(env->spec());
  Estimand estimand;
  estimand.discount = 0.99;
  const LoggedProblem problem{log, policy, env->spec(), estimand};
  FqeOptions options;
  options.members = 1;
  options.target_draws = state.range(0);
  options.fit.validate_every = kMany;
  const auto seconds_of = [&](std::int64_t steps) {
    options.fit.steps = steps;
    const double begin = ThreadSeconds();
    benchmark::DoNotOptimize(FitFqe(problem, options, 1));
    return ThreadSeconds() - begin;
  };
  for (auto _ : state) {
    const double few = seconds_of(kFew);
    state.SetIterationTime((seconds_of(kMany) - few) / (kMany - kFew));
  }
}
BENCHMARK(FqeStep)->Arg(1)->Arg(4)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lfiw::ope

BENCHMARK_MAIN();
