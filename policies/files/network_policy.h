#ifndef LFIW_POLICIES_FILES_NETWORK_POLICY_H_
#define LFIW_POLICIES_FILES_NETWORK_POLICY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "models/dense_network.h"
#include "models/policy_network.h"
#include "policies/files/action_head.h"
#include "policies/policy.h"
#include "policies/ppo/running_moments.h"

namespace lfiw::policies {

// What a network sees of an observation: first 1 - t / time_feature_steps appended (0: nothing; t:
// the step index; the TimeFeatureWrapper of Stable-Baselines3), then the z-score of all.
struct ObservationTransform {
  std::int64_t time_feature_steps = 0;
  std::optional<ObservationNormalizer> normalizer;  // of the network's inputs
};

// A policy of others: any network behind any head. `NetworkPolicyParts::no_density` overrides the
// head: why, although there is noise in principle, the density cannot be given.
struct NetworkPolicyParts {
  ObservationTransform transform;
  std::unique_ptr<PolicyNetwork> network;
  ActionHead head;
  std::string origin;      // in a few words
  std::string no_density;  // empty: as the head says
};

// What it is asked throws PolicyError, naming file and observation, where the network's outputs
// define no action (ActionHead::FaultOf).
class NetworkPolicy final : public Policy {
 public:
  // Throws PolicyError naming `source` unless the parts' sizes fit.
  NetworkPolicy(NetworkPolicyParts parts, const std::string& source);

  std::int64_t obs_dim() const override;
  std::int64_t action_dim() const override { return parts_.head.action_dim; }
  std::int64_t noise_dim() const override { return parts_.head.noise_dim(); }
  std::int64_t discrete_actions() const override;
  std::string Description() const override;

  void Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
              ConstMatrixRef noise, MatrixRef actions) const override;
  void Mean(ConstMatrixRef observations, std::span<const std::int64_t> steps,
            MatrixRef actions) const override;
  bool has_density() const override { return parts_.head.has_density(); }
  std::string DensityRefusal() const override;
  void LogDensity(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                  ConstMatrixRef executed, const VectorD& low, const VectorD& high,
                  std::span<double> log_density) const override;

  const NetworkPolicyParts& parts() const { return parts_; }

 private:
  template <class Use>
  void ForEachRow(const ConstMatrixRef& observations, std::span<const std::int64_t> steps,
                  const Use& use) const;
  void Transform(const float* observation, std::int64_t step, float* input) const;

  void RequireDefined(const float* outputs, const float* observation, std::int64_t step) const;

  NetworkPolicyParts parts_;
  std::string source_;
};

// The weights of a dense network with everything around them, as an .npz file that numpy.savez can
// write too (numbers f4 or f8; a text may be a numpy string):
//   format        text "lfiw network policy 1"
//   output        text: action, mean, mean_log_std or logits (see OutputKind)
//   activation    text: tanh, relu or silu, of the hidden layers
//   weight_l      [inputs, outputs] of layer l = 0, 1, ...; h' = activation(h weight + bias), the
//   bias_l        [outputs]         last layer without activation
//   log_std       [action_dim], if output is mean
//   log_std_range [2] optional, if output is mean_log_std: the range of log deviations (-20, 2)
//   log_std_bound text optional: clamp or tanh, how they are kept within it
//   squash        text optional: none, tanh or clip, to
//   action_low, action_high  [action_dim], if there is a squash
//   obs_mean, obs_variance   [inputs of layer 0] optional, obs_clip [1], obs_epsilon [1] optional
//   time_feature_steps       i8 [1] optional (see ObservationTransform)
//   origin        text optional
inline constexpr const char* kNetworkPolicyFormat = "lfiw network policy 1";

// The policy's network must be a DenseNetwork.
void SaveNetworkPolicy(const NetworkPolicy& policy, const std::string& path);
// `source` names the file in errors. Throws PolicyError for every fault of the arrays.
std::unique_ptr<NetworkPolicy> NetworkPolicyFromArrays(const NpzFile& file,
                                                       const std::string& source);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_NETWORK_POLICY_H_
