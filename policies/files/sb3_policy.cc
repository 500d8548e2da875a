#include "policies/files/sb3_policy.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/config_node.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "policies/files/network_policy.h"
#include "policies/files/policy_arrays.h"

namespace lfiw::policies {
namespace {

constexpr std::string_view kHidden = "mlp_extractor.policy_net.";
const NormalizerNames kNormalizerNames = {"obs_mean", "obs_var", "clip_obs", "norm_epsilon"};
constexpr std::string_view kTimeFeature = "TimeFeatureWrapper";
constexpr std::int64_t kTimeFeatureDefaultSteps = 1000;

DenseLayer ReadLayer(const NpzFile& file, const std::string& name) {
  return {file.GetMatrix(name + ".weight").transpose(), file.GetVector(name + ".bias")};
}

// Layers are numbered with the activations between them counted: 0, 2, 4, ...
std::vector<DenseLayer> ReadLayers(const NpzFile& file) {
  std::vector<DenseLayer> layers;
  for (int k = 0; file.Has(fmt::format("{}{}.weight", kHidden, k)); k += 2) {
    layers.push_back(ReadLayer(file, fmt::format("{}{}", kHidden, k)));
  }
  layers.push_back(ReadLayer(file, "action_net"));
  return layers;
}

Activation ReadActivation(const NpzFile& file, const std::string& source) {
  if (!file.Has("meta_activation")) return Activation::kTanh;
  const std::string name = file.GetText("meta_activation");
  if (name == "tanh") return Activation::kTanh;
  if (name == "relu") return Activation::kRelu;
  if (name == "silu") return Activation::kSilu;
  Throw<PolicyError>("{}: meta_activation is '{}', expected tanh, relu or silu", source, name);
}

bool IsSet(const NpzFile& file, const std::string& name) {
  if (!file.Has(name)) return false;
  const std::vector<std::int64_t> value = file.GetIntegers(name);
  return !value.empty() && value[0] != 0;
}

void RefuseRecurrent(const NpzFile& file, const std::string& source) {
  for (const auto& [name, array] : file.arrays()) {
    if (!name.starts_with("lstm_") && name.find(".lstm") == std::string::npos) continue;
    Throw<PolicyError>(
        "{}: array {} belongs to a recurrent policy, which keeps a state between steps; expected "
        "a policy of the current observation",
        source, name);
  }
}

ActionHead ReadHead(const NpzFile& file, std::int64_t outputs, const std::string& source) {
  ActionHead head;
  head.action_dim = outputs;
  if (IsSet(file, "meta_use_sde")) {
    head.kind = OutputKind::kAction;
  } else if (file.Has("log_std")) {
    head.kind = OutputKind::kMean;
    head.log_std = GetLogStd(file, "log_std", outputs, source);
  } else {
    head.kind = OutputKind::kLogits;
  }
  return head;
}

ObservationTransform ReadTransform(const NpzFile& file, std::int64_t inputs,
                                   std::int64_t time_feature_steps, const std::string& source) {
  ObservationTransform transform{time_feature_steps, std::nullopt};
  const bool normalized = file.Has("norm_obs") ? IsSet(file, "norm_obs") : file.Has("obs_mean");
  if (normalized) transform.normalizer = GetNormalizer(file, kNormalizerNames, inputs, source);
  return transform;
}

// The value of `key` in an ordered dictionary as the zoo dumps it: [[[key, value], ...]].
const ConfigNode* FindPair(const ConfigNode& root, std::string_view key) {
  if (root.kind != ConfigNode::Kind::kList || root.items.size() != 1) return nullptr;
  for (const ConfigNode& pair : root.items[0].items) {
    if (pair.items.size() == 2 && pair.items[0].text == key) return &pair.items[1];
  }
  return nullptr;
}

std::int64_t StepsOfWrapper(const ConfigNode& wrapper) {
  if (wrapper.kind == ConfigNode::Kind::kNull) return 0;
  if (wrapper.text.ends_with(kTimeFeature)) return kTimeFeatureDefaultSteps;
  Throw<ConfigError>(
      "{}: env_wrapper is '{}', expected none or {}; the agent sees observations that are not "
      "known here",
      wrapper.place, wrapper.text.empty() ? "a structure" : wrapper.text, kTimeFeature);
}

}  // namespace

bool IsSb3Policy(const NpzFile& file) {
  return file.Has("action_net.weight") && file.Has("action_net.bias");
}

std::unique_ptr<Policy> PolicyFromSb3(const NpzFile& file, std::int64_t time_feature_steps,
                                      const std::string& source) {
  return AsPolicyError([&] {
    RefuseRecurrent(file, source);
    NetworkPolicyParts parts;
    parts.network =
        std::make_unique<DenseNetwork>(ReadLayers(file), ReadActivation(file, source), source);
    parts.head = ReadHead(file, parts.network->outputs(), source);
    parts.transform = ReadTransform(file, parts.network->inputs(), time_feature_steps, source);
    if (IsSet(file, "meta_use_sde")) {
      parts.no_density =
          "trained with state-dependent exploration (gSDE), of which only the mean action is known";
    }
    parts.origin = "Stable-Baselines3 " +
                   (file.Has("meta_algo_env") ? file.GetText("meta_algo_env") : "arrays");
    return std::make_unique<NetworkPolicy>(std::move(parts), source);
  });
}

std::int64_t Sb3TimeFeatureSteps(const std::string& config_path) {
  if (!std::filesystem::is_regular_file(config_path)) return 0;
  const ConfigNode root = ParseYaml(ReadFile(config_path, 1 << 20), config_path);
  const ConfigNode* wrapper = FindPair(root, "env_wrapper");
  if (wrapper == nullptr) return 0;
  if (wrapper->kind != ConfigNode::Kind::kList) return StepsOfWrapper(*wrapper);
  std::int64_t steps = 0;
  for (const ConfigNode& item : wrapper->items) steps = std::max(steps, StepsOfWrapper(item));
  return steps;
}

}  // namespace lfiw::policies
