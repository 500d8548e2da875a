#include "policies/files/network_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "policies/files/policy_arrays.h"
#include "policies/undefined_policy.h"

namespace lfiw::policies {
namespace {

const NormalizerNames kNormalizerNames = {"obs_mean", "obs_variance", "obs_clip", "obs_epsilon"};

// The value of an enum that a text names.
template <class E>
E ParseName(const std::string& text, const std::string& name, const std::string& source) {
  const auto& names = EnumNames(E{});
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    Throw<PolicyError>("{}: {} is '{}', expected one of {}", source, name, text,
                       fmt::join(names, ", "));
  }
  return static_cast<E>(found - names.begin());
}

void CheckBounds(const ActionHead& head, const std::string& source) {
  if (head.squash == Squash::kNone) return;
  RequireSize(source, "action_low", head.low.size(), head.action_dim);
  RequireSize(source, "action_high", head.high.size(), head.action_dim);
  for (Eigen::Index j = 0; j < head.low.size(); ++j) {
    if (std::isfinite(head.low[j]) && std::isfinite(head.high[j]) && head.low[j] < head.high[j]) {
      continue;
    }
    Throw<PolicyError>("{}: action {} is squashed to [{}, {}], expected finite, increasing bounds",
                       source, j, head.low[j], head.high[j]);
  }
}

void CheckParts(const NetworkPolicyParts& parts, const std::string& source) {
  const PolicyNetwork& network = *parts.network;
  const ActionHead& head = parts.head;
  if (network.outputs() != head.outputs()) {
    Throw<PolicyError>("{}: the network gives {} values, expected {} for {} actions of kind {}",
                       source, network.outputs(), head.outputs(), head.action_dim,
                       EnumName(head.kind));
  }
  CheckBounds(head, source);
  const auto* dense = dynamic_cast<const DenseNetwork*>(parts.network.get());
  if (dense != nullptr && head.kind != OutputKind::kLogits) {
    RequireFinite(source, "the last bias", dense->layers().back().bias);
  }
  if (head.kind == OutputKind::kMean) {
    RequireSize(source, "log_std", head.log_std.size(), head.action_dim);
  }
  if (!(head.log_std_low <= head.log_std_high) || std::abs(head.log_std_low) > 40.0f ||
      std::abs(head.log_std_high) > 40.0f) {
    Throw<PolicyError>("{}: log_std_range is [{}, {}], expected increasing values in [-40, 40]",
                       source, head.log_std_low, head.log_std_high);
  }
  const ObservationTransform& transform = parts.transform;
  if (transform.normalizer) {
    RequireSize(source, "the observations' mean", transform.normalizer->mean().size(),
                network.inputs());
  }
  if (transform.time_feature_steps < 0 ||
      (transform.time_feature_steps > 0 && network.inputs() < 2)) {
    Throw<PolicyError>(
        "{}: time_feature_steps is {} with {} inputs, expected at least 0 and, "
        "with a time feature, 2 inputs",
        source, transform.time_feature_steps, network.inputs());
  }
}

std::vector<DenseLayer> ReadLayers(const NpzFile& file) {
  std::vector<DenseLayer> layers;
  do {
    const std::size_t l = layers.size();
    layers.push_back(
        {file.GetMatrix(fmt::format("weight_{}", l)), file.GetVector(fmt::format("bias_{}", l))});
  } while (file.Has(fmt::format("weight_{}", layers.size())));
  return layers;
}

ActionHead ReadHead(const NpzFile& file, std::int64_t outputs, const std::string& source) {
  ActionHead head;
  head.kind = ParseName<OutputKind>(file.GetText("output"), "output", source);
  head.action_dim = head.kind == OutputKind::kMeanLogStd ? outputs / 2 : outputs;
  if (file.Has("squash")) {
    head.squash = ParseName<Squash>(file.GetText("squash"), "squash", source);
  }
  if (head.squash != Squash::kNone) {
    head.low = GetSized(file, "action_low", head.action_dim, source).cast<float>();
    head.high = GetSized(file, "action_high", head.action_dim, source).cast<float>();
  }
  if (head.kind == OutputKind::kMean) {
    head.log_std = GetLogStd(file, "log_std", head.action_dim, source);
  }
  if (file.Has("log_std_bound")) {
    head.log_std_bound =
        ParseName<LogStdBound>(file.GetText("log_std_bound"), "log_std_bound", source);
  }
  if (file.Has("log_std_range")) {
    const VectorD range = GetSized(file, "log_std_range", 2, source);
    head.log_std_low = static_cast<float>(range[0]);
    head.log_std_high = static_cast<float>(range[1]);
  }
  return head;
}

void PutHead(const ActionHead& head, NpzFile& file) {
  file.Put("output", std::string(EnumName(head.kind)));
  file.Put("squash", std::string(EnumName(head.squash)));
  if (head.squash != Squash::kNone) {
    file.Put("action_low", head.low);
    file.Put("action_high", head.high);
  }
  if (head.kind == OutputKind::kMean) file.Put("log_std", head.log_std);
  if (head.kind == OutputKind::kMeanLogStd) {
    file.Put("log_std_range", std::vector<float>{head.log_std_low, head.log_std_high});
    file.Put("log_std_bound", std::string(EnumName(head.log_std_bound)));
  }
}

void PutTransform(const ObservationTransform& transform, NpzFile& file) {
  if (transform.time_feature_steps > 0) {
    file.Put("time_feature_steps", std::vector<std::int64_t>{transform.time_feature_steps});
  }
  if (!transform.normalizer) return;
  const ObservationNormalizer& normalizer = *transform.normalizer;
  const auto doubles = [](const VectorD& v) { return std::vector<double>(v.begin(), v.end()); };
  file.Put("obs_mean", doubles(normalizer.mean()));
  file.Put("obs_variance", doubles(normalizer.variance()));
  file.Put("obs_clip", std::vector<double>{normalizer.clip()});
  file.Put("obs_epsilon", std::vector<double>{normalizer.epsilon()});
}

}  // namespace

NetworkPolicy::NetworkPolicy(NetworkPolicyParts parts, const std::string& source)
    : parts_(std::move(parts)), source_(source) {
  CheckParts(parts_, source);
}

std::int64_t NetworkPolicy::obs_dim() const {
  return parts_.network->inputs() - (parts_.transform.time_feature_steps > 0 ? 1 : 0);
}

std::int64_t NetworkPolicy::discrete_actions() const {
  return parts_.head.kind == OutputKind::kLogits ? parts_.head.action_dim : 0;
}

std::string NetworkPolicy::Description() const {
  const ActionHead& head = parts_.head;
  const std::string_view kind = head.kind == OutputKind::kAction   ? "deterministic"
                                : head.kind == OutputKind::kLogits ? "categorical"
                                                                   : "Gaussian";
  std::string text = head.squash == Squash::kTanh   ? "tanh-squashed "
                     : head.squash == Squash::kClip ? "clipped "
                                                    : "";
  text += fmt::format("{} {}", kind, parts_.network->Description());
  if (const std::int64_t steps = parts_.transform.time_feature_steps; steps > 0) {
    text += fmt::format(" with a time feature of {} steps", steps);
  }
  return text + ", " + parts_.origin;
}

std::string NetworkPolicy::DensityRefusal() const {
  return parts_.no_density.empty() ? Policy::DensityRefusal() : parts_.no_density;
}

void NetworkPolicy::Transform(const float* observation, std::int64_t step, float* input) const {
  const std::int64_t dim = obs_dim();
  std::copy(observation, observation + dim, input);
  if (const std::int64_t steps = parts_.transform.time_feature_steps; steps > 0) {
    input[dim] = static_cast<float>(1.0 - static_cast<double>(step) / static_cast<double>(steps));
  }
  if (parts_.transform.normalizer) parts_.transform.normalizer->Apply(input, input);
}

void NetworkPolicy::RequireDefined(const float* outputs, const float* observation,
                                   std::int64_t step) const {
  const std::string fault = parts_.head.FaultOf(outputs);
  if (fault.empty()) return;
  RejectUndefinedPolicy(source_.empty() ? parts_.origin : source_, fault,
                        {observation, static_cast<std::size_t>(obs_dim())}, step);
}

// Calls use(row, outputs) with the network's outputs of every row.
template <class Use>
void NetworkPolicy::ForEachRow(const ConstMatrixRef& observations,
                               std::span<const std::int64_t> steps, const Use& use) const {
  LFIW_ASSERT(observations.cols() == obs_dim());
  LFIW_ASSERT(std::ssize(steps) == observations.rows());
  const PolicyNetwork& network = *parts_.network;
  const std::int64_t chunk = std::min<std::int64_t>(network.chunk_rows(), observations.rows());
  thread_local MatrixF inputs, outputs;
  inputs.resize(chunk, network.inputs());
  outputs.resize(chunk, network.outputs());
  for (std::int64_t begin = 0; begin < observations.rows(); begin += chunk) {
    const std::int64_t rows = std::min(chunk, observations.rows() - begin);
    for (std::int64_t i = 0; i < rows; ++i) {
      Transform(observations.row(begin + i).data(), steps[static_cast<std::size_t>(begin + i)],
                inputs.row(i).data());
    }
    network.Forward(inputs.topRows(rows), outputs.topRows(rows));
    for (std::int64_t i = 0; i < rows; ++i) {
      RequireDefined(outputs.row(i).data(), observations.row(begin + i).data(),
                     steps[static_cast<std::size_t>(begin + i)]);
      use(begin + i, outputs.row(i).data());
    }
  }
}

void NetworkPolicy::Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                           ConstMatrixRef noise, MatrixRef actions) const {
  LFIW_ASSERT(noise.cols() == noise_dim());
  ForEachRow(observations, steps, [&](std::int64_t row, const float* outputs) {
    parts_.head.Draw(outputs, noise.row(row).data(), actions.row(row).data());
  });
}

void NetworkPolicy::Mean(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                         MatrixRef actions) const {
  ForEachRow(observations, steps, [&](std::int64_t row, const float* outputs) {
    parts_.head.Mean(outputs, actions.row(row).data());
  });
}

void NetworkPolicy::LogDensity(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                               ConstMatrixRef executed, const VectorD& low, const VectorD& high,
                               std::span<double> log_density) const {
  if (!has_density()) Throw<PolicyError>("{}: no density: {}", Description(), DensityRefusal());
  // executed actions are floats: a bound is met when it is met in float
  const VectorD low_float = low.cast<float>().cast<double>();
  const VectorD high_float = high.cast<float>().cast<double>();
  ForEachRow(observations, steps, [&](std::int64_t row, const float* outputs) {
    log_density[static_cast<std::size_t>(row)] = parts_.head.LogDensity(
        outputs, executed.row(row).data(), low_float.data(), high_float.data());
  });
}

void SaveNetworkPolicy(const NetworkPolicy& policy, const std::string& path) {
  const NetworkPolicyParts& parts = policy.parts();
  const auto* network = dynamic_cast<const DenseNetwork*>(parts.network.get());
  LFIW_ASSERT(network != nullptr);
  NpzFile file;
  file.Put("format", std::string(kNetworkPolicyFormat));
  file.Put("origin", parts.origin);
  file.Put("activation", std::string(EnumName(network->activation())));
  for (std::size_t l = 0; l < network->layers().size(); ++l) {
    file.Put(fmt::format("weight_{}", l), network->layers()[l].weight);
    file.Put(fmt::format("bias_{}", l), network->layers()[l].bias);
  }
  PutHead(parts.head, file);
  PutTransform(parts.transform, file);
  file.Write(path);
}

std::unique_ptr<NetworkPolicy> NetworkPolicyFromArrays(const NpzFile& file,
                                                       const std::string& source) {
  return AsPolicyError([&] {
    NetworkPolicyParts parts;
    const auto activation = ParseName<Activation>(file.GetText("activation"), "activation", source);
    parts.network = std::make_unique<DenseNetwork>(ReadLayers(file), activation, source);
    parts.head = ReadHead(file, parts.network->outputs(), source);
    if (file.Has("obs_mean")) {
      parts.transform.normalizer =
          GetNormalizer(file, kNormalizerNames, parts.network->inputs(), source);
    }
    if (file.Has("time_feature_steps")) {
      const std::vector<std::int64_t> steps = file.GetIntegers("time_feature_steps");
      RequireSize(source, "time_feature_steps", std::ssize(steps), 1);
      parts.transform.time_feature_steps = steps[0];
    }
    parts.origin = file.Has("origin") ? file.GetText("origin") : "network policy file";
    return std::make_unique<NetworkPolicy>(std::move(parts), source);
  });
}

}  // namespace lfiw::policies
