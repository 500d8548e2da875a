#include "policies/files/cleanrl_policy.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "policies/files/policy_arrays.h"

namespace lfiw::policies {
namespace {

// What CleanRL takes the log deviation of SAC's actor to.
constexpr float kLowestLogStd = -5.0f, kHighestLogStd = 2.0f;

DenseLayer ActorLayer(const NpzFile& file, const std::string& name) {
  return {file.GetMatrix(name + ".weight").transpose(), file.GetVector(name + ".bias")};
}

// The layers PREFIX`first`, PREFIX`first + stride`, ... that are there.
std::vector<DenseLayer> Stack(const NpzFile& file, std::string_view prefix, int first, int stride) {
  std::vector<DenseLayer> layers;
  for (int k = first; file.Has(fmt::format("{}{}.weight", prefix, k)); k += stride) {
    layers.push_back(ActorLayer(file, fmt::format("{}{}", prefix, k)));
  }
  return layers;
}

// The bounds that tanh's range is taken to.
void ReadBounds(const NpzFile& file, const std::string& source, ActionHead& head) {
  for (const char* name : {"action_scale", "action_bias"}) {
    if (!file.Has(name)) {
      Throw<PolicyError>(
          "{}: {} is missing, by which CleanRL takes tanh to the action space; save "
          "the state dict of the whole actor",
          source, name);
    }
  }
  const VectorF scale = GetSized(file, "action_scale", head.action_dim, source).cast<float>();
  const VectorF bias = GetSized(file, "action_bias", head.action_dim, source).cast<float>();
  head.squash = Squash::kTanh;
  head.low = bias - scale;
  head.high = bias + scale;
}

NetworkPolicyParts ReadActor(const NpzFile& file, const std::string& source) {
  NetworkPolicyParts parts;
  std::vector<DenseLayer> layers;
  Activation activation = Activation::kTanh;
  if (file.Has("actor_mean.0.weight")) {
    layers = Stack(file, "actor_mean.", 0, 2);
    parts.head.kind = OutputKind::kMean;
    parts.head.action_dim = layers.back().weight.cols();
    parts.head.log_std = GetLogStd(file, "actor_logstd", parts.head.action_dim, source);
    parts.origin = "CleanRL PPO";
  } else if (file.Has("actor.0.weight")) {
    layers = Stack(file, "actor.", 0, 2);
    parts.head.kind = OutputKind::kLogits;
    parts.head.action_dim = layers.back().weight.cols();
    parts.origin = "CleanRL PPO";
  } else {
    layers = Stack(file, "fc", 1, 1);
    activation = Activation::kRelu;
    const bool noise = file.Has("fc_mean.weight");
    const DenseLayer mean = ActorLayer(file, noise ? "fc_mean" : "fc_mu");
    layers.push_back(
        noise ? SideBySide({"fc_mean", mean}, {"fc_logstd", ActorLayer(file, "fc_logstd")}, source)
              : mean);
    parts.head.kind = noise ? OutputKind::kMeanLogStd : OutputKind::kAction;
    parts.head.action_dim = mean.weight.cols();
    parts.head.log_std_bound = LogStdBound::kTanh;
    parts.head.log_std_low = kLowestLogStd;
    parts.head.log_std_high = kHighestLogStd;
    ReadBounds(file, source, parts.head);
    parts.origin = noise ? "CleanRL SAC" : "CleanRL TD3 or DDPG";
  }
  parts.network = std::make_unique<DenseNetwork>(std::move(layers), activation, source);
  return parts;
}

}  // namespace

bool IsNormalizedCleanRl(const NpzFile& file) {
  return file.Has("actor_mean.0.weight") && file.Has("actor_logstd");
}

bool IsCleanRlPolicy(const NpzFile& file) {
  return IsNormalizedCleanRl(file) || file.Has("actor.0.weight") ||
         (file.Has("fc1.weight") && (file.Has("fc_mean.weight") || file.Has("fc_mu.weight")));
}

std::int64_t CleanRlInputs(const NpzFile& file, const std::string& source) {
  return AsPolicyError([&] { return ReadActor(file, source).network->inputs(); });
}

std::unique_ptr<Policy> PolicyFromCleanRl(const NpzFile& file, ObservationTransform transform,
                                          const std::string& source) {
  return AsPolicyError([&] {
    NetworkPolicyParts parts = ReadActor(file, source);
    parts.transform = std::move(transform);
    return std::make_unique<NetworkPolicy>(std::move(parts), source);
  });
}

}  // namespace lfiw::policies
