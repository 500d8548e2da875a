#ifndef LFIW_POLICIES_PPO_PPO_H_
#define LFIW_POLICIES_PPO_PPO_H_

#include <cstdint>
#include <string>

#include "core/layers.h"
#include "core/run/progress.h"
#include "envs/env.h"
#include "policies/ppo/ppo_options.h"
#include "policies/ppo/ppo_result.h"

namespace lfiw::policies {

// How one training run is watched and resumed; none of it changes the result.
struct PpoRun {
  // Where the run continues from, if the file exists, and saves itself to. Empty: nowhere. The file
  // stays when training ends; it holds the finished run.
  std::string checkpoint;
  double checkpoint_seconds = 60.0;  // between two saves
  // Advances by environment steps, notes the mean return. May be null.
  Progress* progress = nullptr;
};

// Trains a policy in one environment with PPO, as openai/baselines' PPO2 does for MuJoCo:
// observations are standardized with running moments, rewards divided by the running deviation of
// the discounted return, a cut at the time limit counts as an end, and the environment clips
// actions while the loss sees the density of what was drawn. The statistics of observations at the
// moment a policy is taken are frozen into it.
//
// The result depends on (factory, options, seed) alone: resumed runs give the same bytes. Throws
// ConfigError for options that do not fit together or a checkpoint of another run, NumericError
// when training or the physics diverges, Interrupted after InterruptRequested (the checkpoint is
// written first).
PpoResult TrainPpo(const EnvFactory& factory, const PpoOptions& options, std::uint64_t seed,
                   const PpoRun& run = {});

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PPO_PPO_H_
