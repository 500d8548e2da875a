#ifndef LFIW_TESTS_MODELS_WALK_LOG_H_
#define LFIW_TESTS_MODELS_WALK_LOG_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/rng.h"

namespace lfiw::models {

// A transition's first state before and after, and its action.
using StepReward = double (*)(double x, double u, double next);

inline double QuadraticReward(double x, double u, double next) {
  return 5.0 + 20.0 * (next - x) - next * next - 0.1 * u * u;
}

inline constexpr double kWalkLimit = 1.5;

// Episodes of a random walk x' = .98 x + .2 u + .05 noise, y' = noise, with states (x, y, 7) and
// u ~ N(0, 1), that end where x' exceeds `limit` or else after `length` steps.
inline EpisodeBatch WalkLog(std::int64_t episodes, std::int64_t length, double limit,
                            StepReward reward, std::uint64_t seed) {
  EpisodeBatch log;
  std::vector<float> observations, actions;
  for (std::int64_t e = 0; e < episodes; ++e) {
    Stream stream(seed, "walk log", {static_cast<std::uint64_t>(e)});
    auto x = static_cast<float>(0.5 * stream.Normal());
    observations.insert(observations.end(), {x, static_cast<float>(stream.Normal()), 7.0f});
    bool ended = false;
    std::int64_t t = 0;
    for (; t < length && !ended; ++t) {
      const auto u = static_cast<float>(stream.Normal());
      const auto next = static_cast<float>(0.98 * x + 0.2 * u + 0.05 * stream.Normal());
      observations.insert(observations.end(), {next, static_cast<float>(stream.Normal()), 7.0f});
      actions.push_back(u);
      log.rewards.push_back(reward(x, u, next));
      ended = next > limit;
      x = next;
    }
    log.offsets.push_back(log.offsets.back() + t);
    log.terminated.push_back(ended ? 1 : 0);
  }
  log.observations = Eigen::Map<MatrixF>(observations.data(), std::ssize(observations) / 3, 3);
  log.actions = Eigen::Map<MatrixF>(actions.data(), std::ssize(actions), 1);
  log.aux.resize(log.steps(), 0);
  return log;
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_WALK_LOG_H_
