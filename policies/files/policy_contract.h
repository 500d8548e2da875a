#ifndef LFIW_POLICIES_FILES_POLICY_CONTRACT_H_
#define LFIW_POLICIES_FILES_POLICY_CONTRACT_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "policies/files/network_policy.h"

namespace lfiw::policies {

enum class NetworkDtype { kFloat32, kFloat64 };

constexpr auto EnumNames(NetworkDtype /*kind*/) {
  return std::to_array<std::string_view>({"float32", "float64"});
}

// The z-score of observations; empty lists: none.
struct ContractNormalizer {
  std::string file;  // .npz with mean and variance (or var), beside the contract if relative
  std::vector<double> mean, variance;
  double epsilon = 1e-8;
  double clip = std::numeric_limits<double>::infinity();

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("file", file, ".npz with arrays mean and variance (or var), instead of the lists");
    v.Field("mean", mean, "of each input of the network");
    v.Field("variance", variance, "of each input of the network", AtLeast(0.0));
    v.Field("epsilon", epsilon, "added to the variance", AtLeast(0.0));
    v.Field("clip", clip, "z-scores are clipped to +-clip", OrInfinity(Positive()));
  }
};

// What a policy file does not say itself: the sidecar YAML of a TorchScript module.
struct PolicyContract {
  std::int64_t obs_dim = 0;     // 0: not said
  std::int64_t action_dim = 0;  // 0: not said
  std::optional<OutputKind> output;
  Squash squash = Squash::kNone;
  std::vector<double> action_low = {-1.0};
  std::vector<double> action_high = {1.0};
  std::vector<double> log_std;
  std::vector<double> log_std_range = {-20.0, 2.0};
  bool stochastic = true;
  NetworkDtype dtype = NetworkDtype::kFloat32;
  std::int64_t time_feature_steps = 0;
  ContractNormalizer normalizer;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("obs_dim", obs_dim, "numbers of an observation, without the time feature", AtLeast(0));
    v.Field("action_dim", action_dim, "numbers of an action, or discrete actions", AtLeast(0));
    v.Field("output", output, "what the module returns");
    v.Field("squash", squash, "what follows the noise");
    v.Field("action_low", action_low, "lower bounds of tanh or clip: one, or one per action");
    v.Field("action_high", action_high, "upper bounds of tanh or clip: one, or one per action");
    v.Field("log_std", log_std, "of output mean: one, or one per action", Between(-40.0, 40.0));
    v.Field("log_std_range", log_std_range, "clamp of the predicted log_std", Between(-40.0, 40.0));
    v.Field("stochastic", stochastic, "false: act by the mean, without noise");
    v.Field("dtype", dtype, "of the module's weights and inputs");
    v.Field("time_feature_steps", time_feature_steps,
            "if > 0, 1 - step / time_feature_steps is appended to the observation", AtLeast(0));
    v.Field("normalizer", normalizer, "of the network's inputs");
  }
};

// Throws ConfigError for every wrong field of the file.
PolicyContract LoadContract(const std::string& path);

// The path of the normalizer's file; empty for none.
std::string StatisticsPath(const PolicyContract& contract, const std::string& contract_path);

// The head and the input transform that a contract describes. Throws PolicyError that names
// `contract_path`.
ActionHead HeadFromContract(const PolicyContract& contract, const std::string& contract_path);
ObservationTransform TransformFromContract(const PolicyContract& contract,
                                           const std::string& contract_path);

// A contract to start from, in one line of YAML.
std::string ContractTemplate();

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_POLICY_CONTRACT_H_
