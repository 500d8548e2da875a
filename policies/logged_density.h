#ifndef LFIW_POLICIES_LOGGED_DENSITY_H_
#define LFIW_POLICIES_LOGGED_DENSITY_H_

#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "envs/env.h"
#include "policies/policy.h"

namespace lfiw::policies {

// The policy's censored log-density (or log-probability) of the executed action of every step,
// [steps]; -infinity where the policy cannot act so. The policy must have a density and fit the
// log; `spec` gives the bounds. Episodes are parallel tasks.
std::vector<double> LoggedDensity(const EpisodeBatch& log, const Policy& policy,
                                  const EnvSpec& spec);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_LOGGED_DENSITY_H_
