#ifndef LFIW_POLICIES_FILES_SB3_POLICY_H_
#define LFIW_POLICIES_FILES_SB3_POLICY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "policies/policy.h"

namespace lfiw::policies {

// On-policy agents of Stable-Baselines3 (PPO, A2C, TRPO) as arrays, named as in its state dict:
//   mlp_extractor.policy_net.K.weight [outputs, inputs], .bias; action_net.weight, .bias
//   log_std [action_dim]          a Gaussian, clipped by the environment; without it action_net
//                                 gives logits of discrete actions
//   meta_activation               text: tanh (default), relu or silu
//   meta_use_sde                  1: state-dependent exploration, loaded as its mean action,
//   without
//                                 a density
//   norm_obs, obs_mean, obs_var, clip_obs, norm_epsilon   VecNormalize, optional
// Arrays of the value network are ignored. A recurrent policy is refused.

// Whether `file` has the names of such an agent.
bool IsSb3Policy(const NpzFile& file);
// `time_feature_steps` > 0: trained behind TimeFeatureWrapper with that many steps. `source` names
// the file in errors. Throws PolicyError.
std::unique_ptr<Policy> PolicyFromSb3(const NpzFile& file, std::int64_t time_feature_steps,
                                      const std::string& source);

// The steps of a TimeFeatureWrapper (its default, 1000) if the file config.yml that
// rl-baselines3-zoo writes beside its agents names that wrapper, else 0. Throws ConfigError for
// broken YAML and for other wrappers of observations.
std::int64_t Sb3TimeFeatureSteps(const std::string& config_path);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_SB3_POLICY_H_
