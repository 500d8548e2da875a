#ifndef LFIW_POLICIES_PPO_PPO_STATE_H_
#define LFIW_POLICIES_PPO_PPO_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "policies/ppo/ppo_learner.h"
#include "policies/ppo/ppo_options.h"
#include "policies/ppo/ppo_result.h"
#include "policies/ppo/running_moments.h"

namespace lfiw::policies {

// All that the rest of a training run depends on between two updates. Random numbers need no place
// here: their streams are named by update, epoch and episode.
struct PpoState {
  explicit PpoState(std::int64_t obs_dim) : observation_moments(obs_dim), return_moments(1) {}

  std::int64_t update = 0;  // updates done
  PpoLearner::State learner;
  RunningMoments observation_moments;
  RunningMoments return_moments;   // of discounted_return
  double discounted_return = 0.0;  // sum of past rewards of the episode, decayed by the discount
  // the episode under way
  std::int64_t episode = 0;
  std::int64_t episode_steps = 0;
  double episode_return = 0.0;
  std::vector<double> env;  // Env::SaveState
  VectorF observation;      // [obs_dim], normalized when it was seen
  // finished episodes, the last 100, oldest first
  std::vector<double> recent_returns;
  std::vector<double> recent_lengths;
  std::vector<PpoPoint> history;
  std::vector<PpoSnapshot> snapshots;
};

// One line that names a run: environment, seed and every option. A checkpoint of another run is
// refused.
std::string DescribePpoRun(const std::string& env, const PpoOptions& options, std::uint64_t seed);

// The state as an .npz file, one array per field.
void SavePpoState(const std::string& path, const std::string& run, const PpoState& state);

// Reads what SavePpoState wrote. Throws ConfigError if the file is of another run, DataError if it
// is damaged.
PpoState LoadPpoState(const std::string& path, const std::string& run, std::int64_t obs_dim);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PPO_PPO_STATE_H_
