#include "policies/policy.h"

#include "core/error.h"
#include "core/logs/episode_batch.h"
#include "envs/env.h"
#include "envs/env_registry.h"

namespace lfiw::policies {

void CheckFits(const Policy& policy, const EnvSpec& spec) {
  if (policy.obs_dim() == spec.obs_dim && policy.action_dim() == spec.action_dim) return;
  Throw<PolicyError>(
      "policy ({}) maps {} observations to {} actions, but {} has {} observations and {} "
      "actions{}",
      policy.Description(), policy.obs_dim(), policy.action_dim(), spec.name, spec.obs_dim,
      spec.action_dim, SizesHint(spec, policy.obs_dim(), policy.action_dim()));
}

void CheckFits(const Policy& policy, const EpisodeBatch& log, const std::string& source) {
  if (policy.obs_dim() == log.obs_dim() && policy.action_dim() == log.action_dim()) return;
  Throw<PolicyError>(
      "policy ({}) maps {} observations to {} actions, but {} has {} observations and {} actions",
      policy.Description(), policy.obs_dim(), policy.action_dim(), source, log.obs_dim(),
      log.action_dim());
}

}  // namespace lfiw::policies
