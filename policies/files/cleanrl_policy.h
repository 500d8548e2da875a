#ifndef LFIW_POLICIES_FILES_CLEANRL_POLICY_H_
#define LFIW_POLICIES_FILES_CLEANRL_POLICY_H_

#include <memory>
#include <optional>
#include <string>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "policies/files/network_policy.h"
#include "policies/policy.h"

namespace lfiw::policies {

// Actors of CleanRL by the names of their state dict, [outputs, inputs] for weights:
//   actor_mean.K.weight, .bias, K = 0, 2, ...; actor_logstd [1, action_dim]
//                      ppo_continuous_action: a Gaussian, tanh between layers, clipped to the
//                      environment's bounds
//   actor.K.weight, .bias            ppo: logits of discrete actions, tanh between layers
//   fc1, fc2, ...; fc_mean, fc_logstd; action_scale, action_bias
//                      sac_continuous_action: a squashed Gaussian, ReLU, the log deviation taken to
//                      [-5, 2] by tanh
//   fc1, fc2, ...; fc_mu; action_scale, action_bias
//                      td3_continuous_action and ddpg_continuous_action: an action without noise
// Critics are ignored.

// Whether `file` has the names of such an actor.
bool IsCleanRlPolicy(const NpzFile& file);
// Whether it is one of ppo_continuous_action, which sees observations through NormalizeObservation
// and does not save by what statistics.
bool IsNormalizedCleanRl(const NpzFile& file);

// `transform` is what comes before the network. `source` names the file in errors. Throws
// PolicyError.
std::unique_ptr<Policy> PolicyFromCleanRl(const NpzFile& file, ObservationTransform transform,
                                          const std::string& source);
// The number of inputs of the actor's network.
std::int64_t CleanRlInputs(const NpzFile& file, const std::string& source);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_CLEANRL_POLICY_H_
