#ifndef LFIW_TESTS_OPE_SCALAR_LOG_H_
#define LFIW_TESTS_OPE_SCALAR_LOG_H_

#include <cstdint>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/rng.h"
#include "ope/estimator.h"

namespace lfiw::ope {

// u ~ N(gain x, sd^2), the behavior policy of ScalarLog.
inline constexpr double kScalarLogGain = -0.3, kScalarLogSpread = 0.5;

// Episodes of ScalarLinearGaussian() under the policy above from x0 ~ N(0, 1), `length` steps each,
// cut by a time limit.
inline EpisodeBatch ScalarLog(std::int64_t length, std::int64_t episodes) {
  EpisodeBatch log;
  log.observations.resize(episodes * (length + 1), 1);
  log.actions.resize(episodes * length, 1);
  log.aux.resize(episodes * length, 0);
  for (std::int64_t e = 0; e < episodes; ++e) {
    Stream stream(7, "log", {static_cast<std::uint64_t>(e)});
    double x = stream.Normal();
    for (std::int64_t t = 0; t < length; ++t) {
      const double u = kScalarLogGain * x + kScalarLogSpread * stream.Normal();
      log.observations(e * (length + 1) + t, 0) = static_cast<float>(x);
      log.actions(e * length + t, 0) = static_cast<float>(u);
      log.rewards.push_back(-(x * x + 0.1 * u * u));
      x = 0.9 * x + 0.5 * u + 0.3 * stream.Normal();
    }
    log.observations(e * (length + 1) + length, 0) = static_cast<float>(x);
    log.offsets.push_back((e + 1) * length);
    log.terminated.push_back(0);
  }
  return log;
}

// One state, action and reward per step: [episodes] of `length` steps.
inline EpisodeBatch ConstantLog(std::int64_t episodes, std::int64_t length, double reward,
                                std::uint8_t terminated) {
  EpisodeBatch log;
  log.observations = MatrixF::Zero(episodes * (length + 1), 1);
  log.actions = MatrixF::Zero(episodes * length, 1);
  log.aux.resize(episodes * length, 0);
  log.rewards.assign(static_cast<std::size_t>(episodes * length), reward);
  for (std::int64_t e = 1; e <= episodes; ++e) log.offsets.push_back(e * length);
  log.terminated.assign(static_cast<std::size_t>(episodes), terminated);
  return log;
}

inline Estimand FiniteHorizon(std::int64_t horizon, double discount = 1.0) {
  Estimand estimand;
  estimand.horizon = horizon;
  estimand.discount = discount;
  return estimand;
}

inline Estimand InfiniteHorizon(double discount) {
  Estimand estimand;
  estimand.discount = discount;
  return estimand;
}

}  // namespace lfiw::ope

#endif  // LFIW_TESTS_OPE_SCALAR_LOG_H_
