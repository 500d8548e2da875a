#include "policies/files/policy_contract.h"

#include <filesystem>

#include "core/config/config.h"
#include "core/error.h"
#include "policies/files/policy_arrays.h"

namespace lfiw::policies {
namespace {

// One number for all actions, or one for each.
VectorF PerAction(const std::vector<double>& values, const char* name, std::int64_t action_dim,
                  const std::string& path) {
  if (values.size() == 1) {
    return VectorF::Constant(action_dim, static_cast<float>(values.front()));
  }
  if (std::ssize(values) != action_dim) {
    Throw<PolicyError>("{}: {} has {} numbers, expected 1 or action_dim = {}", path, name,
                       values.size(), action_dim);
  }
  return Eigen::Map<const VectorD>(values.data(), action_dim).cast<float>();
}

VectorD ToVector(const std::vector<double>& values) {
  return Eigen::Map<const VectorD>(values.data(), std::ssize(values));
}

// The normalizer with the statistics of its file, if it names one.
ContractNormalizer ReadNormalizer(const PolicyContract& contract,
                                  const std::string& contract_path) {
  ContractNormalizer normalizer = contract.normalizer;
  if (normalizer.file.empty()) return normalizer;
  const NpzFile file = NpzFile::Read(StatisticsPath(contract, contract_path), 1 << 26);
  normalizer.mean = file.GetDoubles("mean");
  normalizer.variance = file.GetDoubles(file.Has("variance") ? "variance" : "var");
  return normalizer;
}

}  // namespace

PolicyContract LoadContract(const std::string& path) { return LoadConfig<PolicyContract>(path); }

std::string StatisticsPath(const PolicyContract& contract, const std::string& contract_path) {
  if (contract.normalizer.file.empty()) return "";
  return (std::filesystem::path(contract_path).parent_path() / contract.normalizer.file).string();
}

ActionHead HeadFromContract(const PolicyContract& contract, const std::string& contract_path) {
  if (!contract.output || contract.obs_dim < 1 || contract.action_dim < 1) {
    Throw<PolicyError>(
        "{}: obs_dim is {}, action_dim {}, output {}; expected all three, such as {}",
        contract_path, contract.obs_dim, contract.action_dim,
        contract.output ? EnumName(*contract.output) : "missing", ContractTemplate());
  }
  ActionHead head;
  head.kind = *contract.output;
  head.action_dim = contract.action_dim;
  head.squash = contract.squash;
  const std::int64_t n = contract.action_dim;
  if (head.squash != Squash::kNone) {
    head.low = PerAction(contract.action_low, "action_low", n, contract_path);
    head.high = PerAction(contract.action_high, "action_high", n, contract_path);
  }
  if (head.kind == OutputKind::kMean) {
    head.log_std = PerAction(contract.log_std, "log_std", n, contract_path);
  }
  if (contract.log_std_range.size() != 2) {
    Throw<PolicyError>("{}: log_std_range has {} numbers, expected 2", contract_path,
                       contract.log_std_range.size());
  }
  head.log_std_low = static_cast<float>(contract.log_std_range[0]);
  head.log_std_high = static_cast<float>(contract.log_std_range[1]);
  return head;
}

ObservationTransform TransformFromContract(const PolicyContract& contract,
                                           const std::string& contract_path) {
  ObservationTransform transform{contract.time_feature_steps, std::nullopt};
  const ContractNormalizer normalizer =
      AsPolicyError([&] { return ReadNormalizer(contract, contract_path); });
  if (normalizer.mean.empty() && normalizer.variance.empty()) return transform;
  const std::int64_t inputs = contract.obs_dim + (contract.time_feature_steps > 0 ? 1 : 0);
  RequireSize(contract_path, "normalizer.mean", std::ssize(normalizer.mean), inputs);
  RequireSize(contract_path, "normalizer.variance", std::ssize(normalizer.variance), inputs);
  transform.normalizer.emplace(inputs, normalizer.clip, normalizer.epsilon);
  transform.normalizer->SetStatistics(ToVector(normalizer.mean), ToVector(normalizer.variance));
  CheckNormalizer(*transform.normalizer,
                  {"normalizer.mean", "normalizer.variance", "normalizer.clip", ""}, contract_path);
  return transform;
}

std::string ContractTemplate() {
  return "{obs_dim: 17, action_dim: 6, output: mean_log_std, squash: tanh, action_low: [-1], "
         "action_high: [1]}";
}

}  // namespace lfiw::policies
