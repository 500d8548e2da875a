#ifndef LFIW_POLICIES_FILES_SB3_CHECKPOINT_H_
#define LFIW_POLICIES_FILES_SB3_CHECKPOINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/layers.h"
#include "policies/policy.h"

namespace lfiw::policies {

// The .zip that an agent of Stable-Baselines3 saves: PPO, A2C and TRPO (a Gaussian clipped to the
// action space, or discrete actions), SAC and TQC (a squashed Gaussian), TD3 and DDPG (an action
// without noise). It is read without running anything: the weights are raw bytes, and of pickled
// Python only names and numbers are looked at. State-dependent exploration of PPO and A2C is loaded
// as its mean action, without a density.
//
// The statistics of VecNormalize lie in a pickle of their own, vecnormalize.pkl (vec_normalize.pkl,
// or NAME_vecnormalize.pkl) beside NAME.zip, and are read in the same way.

// Whether an archive with entries of these names is such an agent.
bool IsSb3Checkpoint(const std::vector<std::string>& names);

// `time_feature_steps` > 0: trained behind TimeFeatureWrapper with that many steps. Throws
// PolicyError, in one line with the cure, for agents that are not read: other algorithms, classes,
// spaces, activations and layers, and recurrent, convolutional or masked ones.
std::unique_ptr<Policy> LoadSb3Checkpoint(const std::string& path, std::int64_t time_feature_steps);

// The file of VecNormalize's statistics beside an agent; empty if there is none.
std::string Sb3NormalizerPath(const std::string& path);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_SB3_CHECKPOINT_H_
