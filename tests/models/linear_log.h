#ifndef LFIW_TESTS_MODELS_LINEAR_LOG_H_
#define LFIW_TESTS_MODELS_LINEAR_LOG_H_

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/rng.h"

namespace lfiw::models {

inline std::vector<std::int64_t> Range(std::int64_t count) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

inline constexpr float kNoise = 0.05f;

// Episodes of a linear-Gaussian system with states (x, y, 7): x' = .5 x + u + noise,
// y' = .8 y + .3 x + noise, deviation kNoise each; the third state is constant. Actions u ~ N(0, 1)
// and aux 2 x' + 1.
inline EpisodeBatch LinearLog(std::int64_t episodes, std::int64_t length, std::uint64_t seed) {
  EpisodeBatch log;
  const std::int64_t steps = episodes * length;
  log.observations.resize(steps + episodes, 3);
  log.actions.resize(steps, 1);
  log.aux.resize(steps, 1);
  log.rewards.assign(static_cast<std::size_t>(steps), 0.0);
  log.terminated.assign(static_cast<std::size_t>(episodes), 0);
  for (std::int64_t e = 0; e < episodes; ++e) {
    Stream stream(seed, "linear log", {static_cast<std::uint64_t>(e)});
    const auto normal = [&stream] { return static_cast<float>(stream.Normal()); };
    log.offsets.push_back((e + 1) * length);
    log.observations.row(log.ObservationRow(e, 0)) << normal(), normal(), 7.0f;
    for (std::int64_t t = 0; t < length; ++t) {
      const auto s = log.observations.row(log.ObservationRow(e, t));
      const float u = normal();
      const float x = 0.5f * s(0) + u + kNoise * normal();
      const float y = 0.8f * s(1) + 0.3f * s(0) + kNoise * normal();
      log.observations.row(log.ObservationRow(e, t + 1)) << x, y, 7.0f;
      log.actions(e * length + t, 0) = u;
      log.aux(e * length + t, 0) = 2.0f * x + 1.0f;
    }
  }
  return log;
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_LINEAR_LOG_H_
