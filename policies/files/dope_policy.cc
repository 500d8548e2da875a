#include "policies/files/dope_policy.h"

#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "policies/files/network_policy.h"
#include "policies/files/policy_arrays.h"

namespace lfiw::policies {
namespace {

// Arrays by layer and field, whatever separates the two in their names.
class DopeArrays {
 public:
  DopeArrays(const NpzFile& file, std::string source)
      : file_(file), source_(std::move(source)), separator_(file.Has("fc0/weight") ? "/" : ".") {}

  bool Has(const std::string& layer) const { return file_.Has(layer + separator_ + "weight"); }

  DenseLayer Layer(const std::string& layer) const {
    return {file_.GetMatrix(layer + separator_ + "weight").transpose(),
            file_.GetVector(layer + separator_ + "bias")};
  }

  // The index of a text among the known ones.
  std::size_t Choice(const std::string& name, const std::vector<std::string_view>& known) const {
    const std::string text = file_.GetText(name);
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (text == known[i]) return i;
    }
    Throw<PolicyError>("{}: {} is '{}', expected {}", source_, name, text,
                       fmt::join(known, " or "));
  }

 private:
  const NpzFile& file_;
  std::string source_;
  std::string separator_;
};

}  // namespace

bool IsDopePolicy(const NpzFile& file) {
  return (file.Has("fc0.weight") && file.Has("last_fc.weight")) ||
         (file.Has("fc0/weight") && file.Has("last_fc/weight"));
}

std::unique_ptr<Policy> PolicyFromDope(const NpzFile& file, const std::string& source) {
  return AsPolicyError([&] {
    const DopeArrays arrays(file, source);
    std::vector<DenseLayer> layers;
    for (std::string name = "fc0"; arrays.Has(name); name = fmt::format("fc{}", layers.size())) {
      layers.push_back(arrays.Layer(name));
    }
    layers.push_back(SideBySide({"last_fc", arrays.Layer("last_fc")},
                                {"last_fc_log_std", arrays.Layer("last_fc_log_std")}, source));
    const bool relu = arrays.Choice("nonlinearity", {"relu", "tanh"}) == 0;
    const bool squashed = arrays.Choice("output_distribution", {"tanh_gaussian", "gaussian"}) == 0;

    NetworkPolicyParts parts;
    parts.network = std::make_unique<DenseNetwork>(
        std::move(layers), relu ? Activation::kRelu : Activation::kTanh, source);
    ActionHead& head = parts.head;
    head.kind = OutputKind::kMeanLogStd;
    head.action_dim = parts.network->outputs() / 2;
    head.log_std_low = -5.0f;
    head.log_std_high = 2.0f;
    if (squashed) {
      head.squash = Squash::kTanh;
      head.low = VectorF::Constant(head.action_dim, -1.0f);
      head.high = VectorF::Constant(head.action_dim, 1.0f);
    }
    parts.origin = "DOPE layout";
    return std::make_unique<NetworkPolicy>(std::move(parts), source);
  });
}

std::unique_ptr<Policy> PolicyFromD4rlMetadata(const NpzFile& file, const std::string& source) {
  NpzFile policy;
  constexpr std::string_view kPrefix = "policy/";
  for (const auto& [name, array] : file.arrays()) {
    policy.Put(name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name, array);
  }
  if (!IsDopePolicy(policy)) {
    Throw<PolicyError>(
        "{}: holds no behavior policy, expected metadata/policy/fc0/weight and its like", source);
  }
  return PolicyFromDope(policy, source);
}

}  // namespace lfiw::policies
