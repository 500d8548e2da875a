// What stepping an environment costs beside its physics.
//
// EnvStep runs the same episodes through MujocoEnv::Step and through a bare loop of frame_skip
// times mj_step and one mj_rnePostConstraint, as gym steps, in turns. Each step of an episode
// counts with the least CPU time that it took in any turn, so that other programs on the machine
// hardly matter: physics is the same in every turn. Reported are the means over the steps in
// microseconds and bare / env (1 is no overhead).

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "envs/mujoco_env.h"
#include "envs/mujoco_shared.h"

namespace lfiw::envs {
namespace {

constexpr int kSteps = 200;  // per episode

// The same actions for both loops, [kSteps][action_dim], within the bounds.
std::vector<std::vector<double>> Actions(const EnvSpec& spec) {
  Stream stream(1, "bench/actions");
  std::vector<std::vector<double>> actions(
      kSteps, std::vector<double>(static_cast<std::size_t>(spec.action_dim)));
  for (auto& action : actions) {
    for (double& a : action) a = spec.action_high(0) * stream.Uniform(-1.0, 1.0);
  }
  return actions;
}

// Initial state: the model's own, at rest.
void ResetBare(const MujocoShared& shared, mjData* data) {
  mj_resetData(shared.model.get(), data);
  mj_forward(shared.model.get(), data);
}

void StepBare(const MujocoShared& shared, mjData* data, const std::vector<double>& action) {
  std::ranges::copy(action, data->ctrl);
  for (int i = 0; i < shared.task.frame_skip; ++i) mj_step(shared.model.get(), data);
  mj_rnePostConstraint(shared.model.get(), data);
}

// Time that this thread computed.
double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Least seconds of each step of an episode.
class StepTimes {
 public:
  template <class Body>
  void Take(std::size_t step, Body&& body) {
    const double start = ThreadSeconds();
    body();
    seconds_[step] = std::min(seconds_[step], ThreadSeconds() - start);
  }
  double Mean() const { return std::accumulate(seconds_.begin(), seconds_.end(), 0.0) / kSteps; }

 private:
  std::vector<double> seconds_ = std::vector<double>(kSteps, 1e9);
};

void EnvStep(benchmark::State& state) {
  const auto shared = LoadMujocoTask(MujocoTasks()[static_cast<std::size_t>(state.range(0))]);
  const mjModel& model = *shared->model;
  const auto actions = Actions(shared->spec);
  const MjDataPtr data = MakeMjData(model);
  MujocoEnv env(shared);
  std::vector<double> observation(static_cast<std::size_t>(shared->spec.obs_dim)), aux(1);
  const std::vector<double> positions(model.qpos0, model.qpos0 + model.nq);
  const std::vector<double> velocities(static_cast<std::size_t>(model.nv));
  StepTimes bare, through_env;
  for (auto _ : state) {
    ResetBare(*shared, data.get());
    for (std::size_t t = 0; t < actions.size(); ++t) {
      bare.Take(t, [&] { StepBare(*shared, data.get(), actions[t]); });
    }
    env.ResetTo(positions, velocities, observation);
    for (std::size_t t = 0; t < actions.size(); ++t) {
      through_env.Take(t,
                       [&] { benchmark::DoNotOptimize(env.Step(actions[t], observation, aux)); });
    }
  }
  state.SetLabel(shared->spec.name);
  state.counters["bare_us"] = 1e6 * bare.Mean();
  state.counters["env_us"] = 1e6 * through_env.Mean();
  state.counters["bare/env"] = bare.Mean() / through_env.Mean();
}
BENCHMARK(EnvStep)->DenseRange(0, 5)->Unit(benchmark::kMillisecond)->MinTime(2.0);

}  // namespace
}  // namespace lfiw::envs

BENCHMARK_MAIN();
