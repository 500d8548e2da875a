#include "policies/files/sb3_checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/arrays/npz.h"
#include "core/arrays/pickle.h"
#include "core/arrays/zip_archive.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "models/dense_network.h"
#include "policies/files/network_policy.h"
#include "policies/files/policy_arrays.h"
#include "policies/files/torch_archive.h"

namespace lfiw::policies {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kDataEntry = "data";
constexpr std::string_view kWeightsEntry = "policy.pth";
constexpr std::int64_t kMaxDataBytes = std::int64_t{1} << 26;
constexpr std::int64_t kMaxWeightsBytes = std::int64_t{1} << 30;
constexpr std::int64_t kMaxNormalizerBytes = std::int64_t{1} << 26;
constexpr std::string_view kSb3Cure =
    "export it with policies/export/export_policy.py, or serve it with "
    "policies/export/serve_policy.py";

[[noreturn]] void RefuseAgent(const std::string& source, const std::string& what) {
  Throw<PolicyError>("{}: an agent of Stable-Baselines3 {}; such agents are not read directly: {}",
                     source, what, kSb3Cure);
}

// Throws DataError for text that is no base64.
std::string DecodeBase64(const std::string& text, const std::string& where) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t value = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n') continue;
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) Throw<DataError>("{}: not base64", where);
    value = (value << 6) | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((value >> bits) & 0xFFU);
  }
  return bytes;
}

std::optional<double> NumberOf(const PickleValue* value) {
  if (value == nullptr) return std::nullopt;
  if (const auto* integer = std::get_if<std::int64_t>(&value->value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* number = std::get_if<double>(&value->value)) return *number;
  if (const auto* boolean = std::get_if<bool>(&value->value)) return *boolean ? 1.0 : 0.0;
  const auto* array = std::get_if<NpzArray>(&value->value);
  if (array == nullptr || !array->shape.empty()) return std::nullopt;
  NpzFile file;
  file.Put("number", *array);
  if (array->type[0] == 'f') return file.GetDoubles("number").front();
  return static_cast<double>(file.GetIntegers("number").front());
}

std::optional<std::vector<double>> NumbersOf(const PickleValue* value) {
  const auto* array = value == nullptr ? nullptr : std::get_if<NpzArray>(&value->value);
  if (array == nullptr) return std::nullopt;
  NpzFile file;
  file.Put("numbers", *array);
  if (array->type[0] == 'f') return file.GetDoubles("numbers");
  const std::vector<std::int64_t> integers = file.GetIntegers("numbers");
  return std::vector<double>(integers.begin(), integers.end());
}

// "Box" of "gymnasium.spaces.box.Box".
std::string LastName(std::string_view type) {
  return std::string(type.substr(type.find_last_of('.') + 1));
}

std::string TypeOf(const PickleValue& value) {
  const auto* object = std::get_if<PickleValue::Object>(&value.value);
  return object == nullptr ? "" : object->type;
}

// What the agent's file says of it besides its weights.
class AgentData {
 public:
  AgentData(const std::string& text, std::string source) : source_(std::move(source)) {
    data_ = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!data_.is_object()) Throw<DataError>("{}: entry 'data' is no JSON object", source_);
  }

  bool Has(const std::string& key) const { return data_.contains(key); }
  bool IsNull(const std::string& key) const { return !Has(key) || data_.at(key).is_null(); }
  bool IsTrue(const std::string& key) const {
    return Has(key) && data_.at(key).is_boolean() && data_.at(key).get<bool>();
  }

  // A pickled value; None where the file has a value of JSON.
  PickleValue Pickled(const std::string& key) const {
    const json* entry = Has(key) ? &data_.at(key) : nullptr;
    if (entry == nullptr || !entry->is_object() || !entry->contains(":serialized:")) {
      return {};
    }
    const json& text = entry->at(":serialized:");
    const std::string where = fmt::format("{}: '{}' in entry 'data'", source_, key);
    if (!text.is_string()) Throw<DataError>("{}: no text", where);
    return ParsePickle(DecodeBase64(text.get<std::string>(), where), where,
                       {.objects = true, .storage = {}});
  }

  // A field of policy_kwargs, which is JSON where all of its fields are.
  bool KeywordIsTrue(const std::string& name) const {
    const PickleValue pickled = Pickled("policy_kwargs");
    if (NumberOf(FindKey(pickled, name)).value_or(0.0) != 0.0) return true;
    if (!Has("policy_kwargs") || !data_.at("policy_kwargs").is_object()) return false;
    const json& keywords = data_.at("policy_kwargs");
    return keywords.contains(name) && keywords.at(name).is_boolean() &&
           keywords.at(name).get<bool>();
  }

 private:
  std::string source_;
  json data_;
};

// The space of an agent's actions.
struct AgentActions {
  std::int64_t choices = 0;  // of discrete actions; 0: a box
  VectorF low, high;         // of a box
};

AgentActions ReadActions(const AgentData& data, const std::string& source) {
  const PickleValue space = data.Pickled("action_space");
  const std::string kind = LastName(TypeOf(space));
  AgentActions actions;
  if (kind == "Discrete") {
    const double choices = NumberOf(FindKey(space, "n")).value_or(0.0);
    if (!(choices >= 1.0 && choices <= 1e6)) RefuseAgent(source, "without a number of actions");
    if (NumberOf(FindKey(space, "start")).value_or(0.0) != 0.0) {
      RefuseAgent(source, "whose discrete actions do not start at 0");
    }
    actions.choices = static_cast<std::int64_t>(choices);
    return actions;
  }
  if (kind != "Box") {
    RefuseAgent(source, fmt::format("with actions in a {}",
                                    kind.empty() ? "space that is not named" : Quoted(kind)));
  }
  const auto bound = [&](std::string_view name) {
    const auto numbers = NumbersOf(FindKey(space, name));
    if (!numbers || numbers->empty()) RefuseAgent(source, "without bounds of its actions");
    return VectorF(Eigen::Map<const VectorD>(numbers->data(), std::ssize(*numbers)).cast<float>());
  };
  actions.low = bound("low");
  actions.high = bound("high");
  return actions;
}

// The weights of an agent, of which every array must be used or known to be of no use.
class AgentWeights {
 public:
  AgentWeights(NpzFile file, std::string source)
      : file_(std::move(file)), source_(std::move(source)) {}

  bool Has(const std::string& name) const { return file_.Has(name); }

  // Layers PREFIX.0, PREFIX.2, ...: those between them are activations.
  void AddStack(const std::string& prefix, std::vector<DenseLayer>& layers) {
    for (int k = 0; Has(fmt::format("{}.{}.weight", prefix, k)); k += 2) {
      layers.push_back(Layer(fmt::format("{}.{}", prefix, k)));
    }
  }
  DenseLayer Layer(const std::string& name) {
    used_.insert({name + ".weight", name + ".bias"});
    return {file_.GetMatrix(name + ".weight").transpose(), file_.GetVector(name + ".bias")};
  }
  VectorF LogStd(std::int64_t actions) {
    used_.insert("log_std");
    return GetLogStd(file_, "log_std", actions, source_);
  }

  // Refuses an actor of more than what was read.
  void RequireAllUsed() const {
    static constexpr std::array<std::string_view, 6> kOfCritics = {
        "critic",       "value_net",     "mlp_extractor.value_net",
        "actor_target", "critic_target", "vf_features_extractor"};
    for (const auto& [name, array] : file_.arrays()) {
      const std::string_view text = name;
      const bool critic = std::ranges::any_of(kOfCritics, [&](std::string_view other) {
        return text.starts_with(other) && text.substr(other.size()).starts_with('.');
      });
      if (critic || used_.contains(name) || name == "log_std") continue;
      if (name.find("lstm") != std::string::npos) {
        RefuseAgent(source_, "that is recurrent and keeps a state between steps");
      }
      RefuseAgent(source_, fmt::format("with more than dense layers ('{}')", Quoted(name)));
    }
  }

 private:
  NpzFile file_;
  std::string source_;
  std::set<std::string> used_;
};

Activation ReadAgentActivation(const AgentData& data, Activation absent,
                               const std::string& source) {
  const PickleValue keywords = data.Pickled("policy_kwargs");
  const PickleValue* given = FindKey(keywords, "activation_fn");
  if (given == nullptr) return absent;
  const std::string type = TypeOf(*given);
  if (type == "torch.nn.modules.activation.Tanh") return Activation::kTanh;
  if (type == "torch.nn.modules.activation.ReLU") return Activation::kRelu;
  if (type == "torch.nn.modules.activation.SiLU") return Activation::kSilu;
  RefuseAgent(source, fmt::format("with the activation {} (Tanh, ReLU and SiLU are read)",
                                  type.empty() ? "of its own" : Quoted(LastName(type))));
}

void RequireKnownClass(const AgentData& data, const std::string& source) {
  const std::string type = TypeOf(data.Pickled("policy_class"));
  const bool known = type.starts_with("stable_baselines3.") || type.starts_with("sb3_contrib.");
  if (!known) {
    RefuseAgent(source, fmt::format("with a policy class of its own ({})",
                                    type.empty() ? "not named" : Quoted(type)));
  }
  if (type.find("Maskable") != std::string::npos) {
    RefuseAgent(source, "with masked actions");
  }
}

bool AllFinite(const AgentActions& actions) {
  return actions.low.allFinite() && actions.high.allFinite();
}

// Sets what is done to an action after the noise, to the bounds of the action space.
void SetBounds(const AgentActions& actions, Squash squash, ActionHead& head) {
  head.squash = squash;
  head.low = actions.low;
  head.high = actions.high;
}

// PPO, A2C, TRPO
void ReadOnPolicy(AgentWeights& weights, const AgentData& data, const AgentActions& actions,
                  const std::string& source, NetworkPolicyParts& parts) {
  std::vector<DenseLayer> layers;
  weights.AddStack("mlp_extractor.shared_net", layers);
  weights.AddStack("mlp_extractor.policy_net", layers);
  layers.push_back(weights.Layer("action_net"));
  const std::int64_t outputs = layers.back().weight.cols();
  parts.network = std::make_unique<DenseNetwork>(
      std::move(layers), ReadAgentActivation(data, Activation::kTanh, source), source);
  parts.head.action_dim = outputs;
  if (actions.choices > 0) {
    parts.head.kind = OutputKind::kLogits;
    return;
  }
  const bool exploration = data.IsTrue("use_sde");
  if (exploration) {
    parts.head.kind = OutputKind::kAction;
    parts.no_density =
        "trained with state-dependent exploration (gSDE), of which only the mean action is known";
  } else {
    parts.head.kind = OutputKind::kMean;
    parts.head.log_std = weights.LogStd(outputs);
  }
  if (exploration && data.KeywordIsTrue("squash_output")) {
    SetBounds(actions, Squash::kTanh, parts.head);
  } else if (AllFinite(actions)) {
    SetBounds(actions, Squash::kClip, parts.head);
  }
}

// SAC, TQC
void ReadSquashedGaussian(AgentWeights& weights, const AgentData& data, const AgentActions& actions,
                          const std::string& source, NetworkPolicyParts& parts) {
  if (data.IsTrue("use_sde") || !weights.Has("actor.mu.weight") ||
      !weights.Has("actor.log_std.weight")) {
    RefuseAgent(source, "with the state-dependent exploration (gSDE) of SAC");
  }
  std::vector<DenseLayer> layers;
  weights.AddStack("actor.latent_pi", layers);
  const DenseLayer mean = weights.Layer("actor.mu");
  layers.push_back(
      SideBySide({"actor.mu", mean}, {"actor.log_std", weights.Layer("actor.log_std")}, source));
  parts.network = std::make_unique<DenseNetwork>(
      std::move(layers), ReadAgentActivation(data, Activation::kRelu, source), source);
  parts.head.kind = OutputKind::kMeanLogStd;
  parts.head.action_dim = mean.weight.cols();
  SetBounds(actions, Squash::kTanh, parts.head);
}

// TD3, DDPG
void ReadDeterministic(AgentWeights& weights, const AgentData& data, const AgentActions& actions,
                       const std::string& source, NetworkPolicyParts& parts) {
  std::vector<DenseLayer> layers;
  weights.AddStack("actor.mu", layers);
  parts.head.kind = OutputKind::kAction;
  parts.head.action_dim = layers.back().weight.cols();
  parts.network = std::make_unique<DenseNetwork>(
      std::move(layers), ReadAgentActivation(data, Activation::kRelu, source), source);
  SetBounds(actions, Squash::kTanh, parts.head);
}

// The algorithm by what its agents alone keep.
std::string AlgorithmName(const AgentData& data, const AgentWeights& weights) {
  if (weights.Has("action_net.weight")) {
    return data.Has("cg_max_steps") ? "TRPO" : data.Has("clip_range") ? "PPO" : "A2C";
  }
  if (weights.Has("actor.mu.0.weight")) {
    return "TD3 or DDPG";
  }
  return data.Has("top_quantiles_to_drop_per_net") ? "TQC" : "SAC";
}

ObservationNormalizer ReadVecNormalize(const PickleValue& value, std::int64_t inputs,
                                       const std::string& source) {
  const PickleValue* moments = FindKey(value, "obs_rms");
  const auto mean = moments == nullptr ? std::nullopt : NumbersOf(FindKey(*moments, "mean"));
  const auto variance = moments == nullptr ? std::nullopt : NumbersOf(FindKey(*moments, "var"));
  const auto clip = NumberOf(FindKey(value, "clip_obs"));
  const auto epsilon = NumberOf(FindKey(value, "epsilon"));
  if (!mean || !variance || !clip || !epsilon) {
    Throw<PolicyError>(
        "{}: holds no mean and variance of plain observations, expected what VecNormalize.save "
        "writes; {}",
        source, kSb3Cure);
  }
  NpzFile file;
  file.Put("mean", *mean);
  file.Put("var", *variance);
  file.Put("clip_obs", std::vector<double>{*clip});
  file.Put("epsilon", std::vector<double>{*epsilon});
  return GetNormalizer(file, {"mean", "var", "clip_obs", "epsilon"}, inputs, source);
}

std::optional<ObservationNormalizer> ReadAgentNormalizer(const std::string& path,
                                                         const AgentData& data, bool on_policy,
                                                         std::int64_t inputs) {
  const std::string normalizer = Sb3NormalizerPath(path);
  if (normalizer.empty()) {
    // only behind VecNormalize an agent of PPO, A2C or TRPO keeps its last original observation
    if (on_policy && !data.IsNull("_last_original_obs")) {
      Throw<PolicyError>(
          "{}: trained behind VecNormalize, whose statistics are not beside it; put the "
          "vecnormalize.pkl that VecNormalize.save wrote into the same folder",
          path);
    }
    return std::nullopt;
  }
  const PickleValue value = ParsePickle(ReadFile(normalizer, kMaxNormalizerBytes), normalizer,
                                        {.objects = true, .storage = {}});
  if (LastName(TypeOf(value)) != "VecNormalize") {
    Throw<PolicyError>("{}: holds no VecNormalize; move it away if the agent has none", normalizer);
  }
  if (NumberOf(FindKey(value, "norm_obs")).value_or(1.0) == 0.0) return std::nullopt;
  return ReadVecNormalize(value, inputs, normalizer);
}

void RequireFlatObservations(const AgentData& data, std::int64_t inputs,
                             const std::string& source) {
  const PickleValue space = data.Pickled("observation_space");
  const std::string kind = LastName(TypeOf(space));
  if (kind != "Box") {
    RefuseAgent(source, fmt::format("with observations in a {}",
                                    kind.empty() ? "space that is not named" : Quoted(kind)));
  }
  const auto low = NumbersOf(FindKey(space, "low"));
  if (low && std::ssize(*low) != inputs) {
    Throw<PolicyError>("{}: its observations have {} numbers, its network {} inputs", source,
                       low->size(), inputs);
  }
}

std::unique_ptr<Policy> ReadAgent(const std::string& path, std::int64_t time_feature_steps) {
  const ZipArchive archive = ZipArchive::OpenFile(path);
  const AgentData data(archive.Read(std::string(kDataEntry), kMaxDataBytes), path);
  RequireKnownClass(data, path);
  AgentWeights weights(ReadTorchArchive(archive.Read(std::string(kWeightsEntry), kMaxWeightsBytes),
                                        fmt::format("{}: entry '{}'", path, kWeightsEntry)),
                       path);
  const bool on_policy = weights.Has("action_net.weight");
  if (!on_policy && !weights.Has("actor.latent_pi.0.weight") && !weights.Has("actor.mu.weight") &&
      !weights.Has("actor.mu.0.weight")) {
    RefuseAgent(path,
                "without an actor of dense layers (PPO, A2C, TRPO, SAC, TQC, TD3 and DDPG "
                "are read)");
  }
  const AgentActions actions = ReadActions(data, path);
  NetworkPolicyParts parts;
  if (on_policy) {
    ReadOnPolicy(weights, data, actions, path, parts);
  } else if (weights.Has("actor.mu.0.weight") && !weights.Has("actor.latent_pi.0.weight")) {
    ReadDeterministic(weights, data, actions, path, parts);
  } else {
    ReadSquashedGaussian(weights, data, actions, path, parts);
  }
  weights.RequireAllUsed();
  const std::int64_t expected = actions.choices > 0 ? actions.choices : actions.low.size();
  RequireSize(path, "the action space", expected, parts.head.action_dim);
  RequireFlatObservations(data, parts.network->inputs(), path);
  parts.transform = {time_feature_steps,
                     ReadAgentNormalizer(path, data, on_policy, parts.network->inputs())};
  parts.origin = "Stable-Baselines3 " + AlgorithmName(data, weights);
  return std::make_unique<NetworkPolicy>(std::move(parts), path);
}

}  // namespace

bool IsSb3Checkpoint(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has(kDataEntry) && has(kWeightsEntry);
}

std::unique_ptr<Policy> LoadSb3Checkpoint(const std::string& path,
                                          std::int64_t time_feature_steps) {
  try {
    return ReadAgent(path, time_feature_steps);
  } catch (const DataError& error) {
    // what is not plain in such a file may still be read where it was written
    Throw<PolicyError>("{}; such an agent of Stable-Baselines3 is not read directly: {}",
                       error.what(), kSb3Cure);
  }
}

std::string Sb3NormalizerPath(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  for (const std::string& name : {std::string("vecnormalize.pkl"), std::string("vec_normalize.pkl"),
                                  fs::path(path).stem().string() + "_vecnormalize.pkl"}) {
    if (fs::is_regular_file(folder / name)) return (folder / name).string();
  }
  return "";
}

}  // namespace lfiw::policies
