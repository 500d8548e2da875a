#ifndef LFIW_POLICIES_PPO_PPO_RESULT_H_
#define LFIW_POLICIES_PPO_PPO_RESULT_H_

#include <cstdint>
#include <vector>

#include "core/layers.h"
#include "policies/gaussian_mlp_policy.h"

namespace lfiw::policies {

// One update of the learning curve.
struct PpoPoint {
  std::int64_t steps = 0;  // environment steps so far
  // Over the last 100 finished episodes, undiscounted and unscaled; 0 before the first.
  double mean_return = 0.0;
  double mean_length = 0.0;
  // Means over the minibatches of the update.
  double policy_loss = 0.0;
  double value_loss = 0.0;
  double entropy = 0.0;
  double approx_kl = 0.0;
  double clip_fraction = 0.0;
  double steps_per_second = 0.0;  // of this update, wall clock
};

struct PpoSnapshot {
  std::int64_t steps = 0;  // as asked for in PpoOptions::snapshots
  GaussianMlpPolicy policy;
};

struct PpoResult {
  GaussianMlpPolicy policy;
  std::vector<PpoSnapshot> snapshots;  // in the order of training
  std::vector<PpoPoint> history;
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PPO_PPO_RESULT_H_
