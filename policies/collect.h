#ifndef LFIW_POLICIES_COLLECT_H_
#define LFIW_POLICIES_COLLECT_H_

#include <cstdint>
#include <string>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/run/progress.h"
#include "envs/env.h"
#include "policies/policy.h"

namespace lfiw::policies {

// Which episodes are run. Episode e draws its initial state from Stream(seed, purpose + "/reset",
// {e}) and its actions from Stream(seed, purpose + "/action noise", {e}): it is the same however
// many others run beside it, so any one can be replayed alone.
struct EpisodeRequest {
  std::int64_t first_episode = 0;
  std::int64_t episodes = 1;    // first_episode .. first_episode + episodes - 1
  std::int64_t horizon = 1000;  // steps at most; earlier where the environment terminates
  std::uint64_t seed = 0;
  std::string purpose = "collect";  // keeps the streams of a log and of a truth apart
  // Advances by episodes. May be null.
  Progress* progress = nullptr;
};

// Runs episodes from reset with stochastic actions, in parallel. The log holds the executed
// (clipped) actions and, if the policy has a density, their censored log-density. The policy sees
// observations as they are logged, in float. Throws PolicyError if the policy does not fit the
// environment or gives an action that is not finite, NumericError if the physics becomes unstable
// (both name episode and step), Interrupted after InterruptRequested.
EpisodeBatch CollectEpisodes(const EnvFactory& factory, const Policy& policy,
                             const EpisodeRequest& request);

// The value of a policy by Monte Carlo in the environment.
struct MonteCarloEstimate {
  double value = 0.0;           // mean discounted sum of rewards
  double standard_error = 0.0;  // of value; 0 for a single episode
  std::int64_t episodes = 0;
  double mean_length = 0.0;  // steps
};

// Runs the episodes of `request` and keeps only their returns. Errors as in CollectEpisodes.
MonteCarloEstimate MonteCarloValue(const EnvFactory& factory, const Policy& policy,
                                   const EpisodeRequest& request, double discount);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_COLLECT_H_
