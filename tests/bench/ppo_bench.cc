// What training and acting of the small policies cost: PPO's rate and the share of it that the
// environment takes, one update of the networks, and forward passes.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/rng.h"
#include "envs/env.h"
#include "envs/env_registry.h"
#include "policies/gaussian_mlp_policy.h"
#include "policies/ppo/ppo.h"
#include "policies/ppo/ppo_learner.h"

namespace lfiw::policies {
namespace {

using Clock = std::chrono::steady_clock;

// Counts the time that passes inside an environment's steps and resets.
class TimedEnv final : public Env {
 public:
  TimedEnv(std::unique_ptr<Env> env, double& seconds) : env_(std::move(env)), seconds_(seconds) {}
  const EnvSpec& spec() const override { return env_->spec(); }
  void Reset(Stream& stream, std::span<double> observation) override {
    Timed([&] { env_->Reset(stream, observation); });
  }
  StepResult Step(std::span<const double> action, std::span<double> observation,
                  std::span<double> aux) override {
    StepResult result;
    Timed([&] { result = env_->Step(action, observation, aux); });
    return result;
  }
  std::vector<double> SaveState() const override { return env_->SaveState(); }
  void LoadState(std::span<const double> state) override { env_->LoadState(state); }

 private:
  template <class F>
  void Timed(const F& f) {
    const auto start = Clock::now();
    f();
    seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::unique_ptr<Env> env_;
  double& seconds_;
};

class TimedFactory final : public EnvFactory {
 public:
  TimedFactory(const EnvFactory& factory, double& seconds) : factory_(factory), seconds_(seconds) {}
  const EnvSpec& spec() const override { return factory_.spec(); }
  std::unique_ptr<Env> Make() const override {
    return std::make_unique<TimedEnv>(factory_.Make(), seconds_);
  }
  std::unique_ptr<TaskRules> MakeTaskRules(RewardSource source) const override {
    return factory_.MakeTaskRules(source);
  }

 private:
  const EnvFactory& factory_;
  double& seconds_;
};

void TrainingRate(benchmark::State& state, const std::string& name) {
  SetThreads(1);
  const auto factory = FindEnv(name);
  double env_seconds = 0.0, all_seconds = 0.0;
  PpoOptions options;
  options.total_steps = 4 * options.rollout_steps;
  for (auto _ : state) {
    const auto start = Clock::now();
    TrainPpo(TimedFactory(*factory, env_seconds), options, 0);
    all_seconds += std::chrono::duration<double>(Clock::now() - start).count();
  }
  state.counters["env_share"] = env_seconds / all_seconds;
  state.SetItemsProcessed(state.iterations() * options.total_steps);
}
BENCHMARK_CAPTURE(TrainingRate, Swimmer, "Swimmer")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(TrainingRate, HalfCheetah, "HalfCheetah")->Unit(benchmark::kMillisecond);

// One minibatch of 64 through actor and critic of HalfCheetah's size.
void Minibatch(benchmark::State& state) {
  const PpoOptions options;
  PpoLearner learner(17, 6, options, 0);
  PpoRollout rollout(options.rollout_steps, 17, 6);
  Stream stream(0, "bench");
  stream.FillNormal({rollout.observations.data(), std::size_t(rollout.observations.size())});
  stream.FillNormal({rollout.actions.data(), std::size_t(rollout.actions.size())});
  stream.FillNormal(std::span<float>(rollout.advantages));
  std::vector<std::int64_t> rows(64);
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  for (auto _ : state) {
    benchmark::DoNotOptimize(learner.ComputeGradient(rollout, rows));
    learner.Step(1e-9);
  }
  // forward, derivative by weights, derivative by inputs
  state.counters["flop/s"] =
      benchmark::Counter(2.0 * 64 * (2 * (3 * 64 * 64 + 2 * 17 * 64) + 3 * 64 * (6 + 1)),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Minibatch);

// Sample of a batch by a 17-64-64-6 policy.
void PolicyForward(benchmark::State& state) {
  TanhMlp mlp({17, 64, 64, 6});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.Initialize(Stream(0, "bench"), 1.0, 1.0, parameters.data());
  const GaussianMlpPolicy policy(mlp, parameters, VectorF::Zero(6), ObservationNormalizer(17),
                                 "bench");
  const std::int64_t n = state.range(0);
  const MatrixF observations = MatrixF::Constant(n, 17, 0.1f), noise = MatrixF::Zero(n, 6);
  const std::vector<std::int64_t> steps(static_cast<std::size_t>(n));
  MatrixF actions(n, 6);
  for (auto _ : state) {
    policy.Sample(observations, steps, noise, actions);
    benchmark::DoNotOptimize(actions.data());
  }
  state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(PolicyForward)->Arg(1)->Arg(8)->Arg(1000);

}  // namespace
}  // namespace lfiw::policies

BENCHMARK_MAIN();
