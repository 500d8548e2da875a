#include "policies/files/policy_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arrays/hdf5.h"
#include "core/arrays/npz.h"
#include "core/arrays/pickle.h"
#include "core/arrays/safetensors.h"
#include "core/arrays/zip_archive.h"
#include "core/config/config.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/sha256.h"
#include "policies/files/cleanrl_policy.h"
#include "policies/files/dope_policy.h"
#include "policies/files/network_policy.h"
#include "policies/files/policy_arrays.h"
#include "policies/files/policy_contract.h"
#include "policies/files/sb3_checkpoint.h"
#include "policies/files/sb3_policy.h"
#include "policies/files/torch_archive.h"
#include "policies/files/torchscript_network.h"
#include "policies/gaussian_mlp_policy.h"
#include "policies/mean_policy.h"
#include "policies/programs/program_policy.h"

namespace lfiw::policies {
namespace {

namespace fs = std::filesystem;
using std::string_view_literals::operator""sv;

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
constexpr std::size_t kHeadBytes = 64;
constexpr std::string_view kReadable =
    "a .npz checkpoint, a DOPE .npz or .pkl, an agent of Stable-Baselines3 (.zip or arrays in "
    ".npz) or CleanRL (.cleanrl_model or .safetensors), a TorchScript module (.pt) or "
    "exec:COMMAND";
constexpr std::string_view kExport =
    "export it to TorchScript with policies/export/export_policy.py";

// A contract with the path it was read from; no path: the defaults.
struct NamedContract {
  std::string path;
  PolicyContract contract;
};

NamedContract FindContract(const std::string& path, const PolicyLoadOptions& options) {
  if (!options.contract.empty()) return {options.contract, LoadContract(options.contract)};
  if (IsProgramPolicy(path)) return {};
  for (const std::string& candidate :
       {fs::path(path).replace_extension(".yaml").string(), path + ".yaml"}) {
    if (candidate != path && fs::is_regular_file(candidate)) {
      return {candidate, LoadContract(candidate)};
    }
  }
  return {};
}

std::string FirstBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

// The names of the entries of a zip archive.
std::vector<std::string> ZipNames(const std::string& path) {
  try {
    return ZipArchive::OpenFile(path).names();
  } catch (const DataError& error) {
    Throw<PolicyError>("{}", error.what());
  }
}

template <class Predicate>
bool AnyOf(const std::vector<std::string>& names, const Predicate& predicate) {
  return std::any_of(names.begin(), names.end(), predicate);
}

std::unique_ptr<Policy> LoadTorchScript(const std::string& path, const NamedContract& named) {
  std::unique_ptr<TorchScriptNetwork> network = TorchScriptNetwork::Load(path);
  if (named.path.empty()) {
    Throw<PolicyError>(
        "{}: a TorchScript module needs a contract that says what goes in and comes out; write {} "
        "such as {}",
        path, fs::path(path).replace_extension(".yaml").string(), ContractTemplate());
  }
  NetworkPolicyParts parts;
  parts.head = HeadFromContract(named.contract, named.path);
  parts.transform = TransformFromContract(named.contract, named.path);
  parts.origin = fs::path(path).filename().string();
  const std::int64_t time_feature = named.contract.time_feature_steps > 0 ? 1 : 0;
  network->Bind(
      {named.contract.obs_dim + time_feature, parts.head.outputs(), named.contract.dtype});
  parts.network = std::move(network);
  return std::make_unique<NetworkPolicy>(std::move(parts), path);
}

// Files that describe themselves leave a contract two things to say; some may need a normalizer
// too.
void RequireNoMore(const std::string& path, const NamedContract& named,
                   bool normalizer_allowed = false) {
  PolicyContract rest = named.contract;
  if (normalizer_allowed) rest.normalizer = {};
  rest.stochastic = PolicyContract{}.stochastic;
  rest.time_feature_steps = PolicyContract{}.time_feature_steps;
  if (CanonicalText(rest) == CanonicalText(PolicyContract{})) return;
  Throw<PolicyError>(
      "{}: says what {} says itself; for such a file a contract may hold stochastic{} "
      "time_feature_steps only",
      named.path, path, normalizer_allowed ? ", normalizer and" : " and");
}

// An actor of CleanRL, whose contract may hold the statistics of NormalizeObservation. One of
// ppo_continuous_action needs a contract, since nothing in it says by what its observations were
// normalized.
std::unique_ptr<Policy> LoadCleanRl(const NpzFile& file, const std::string& path,
                                    const NamedContract& named) {
  RequireNoMore(path, named, true);
  if (IsNormalizedCleanRl(file) && named.path.empty()) {
    Throw<PolicyError>(
        "{}: CleanRL's ppo_continuous_action normalizes observations and does not save by what; "
        "write {} with normalizer: {{file: statistics.npz, clip: 10}} (arrays mean and var of "
        "NormalizeObservation), or with stochastic: true alone if the agent saw plain observations",
        path, fs::path(path).replace_extension(".yaml").string());
  }
  PolicyContract contract = named.contract;
  contract.obs_dim = CleanRlInputs(file, path) - (contract.time_feature_steps > 0 ? 1 : 0);
  return PolicyFromCleanRl(file, TransformFromContract(contract, named.path), path);
}

std::string Sb3ConfigPath(const std::string& path) {
  return (fs::path(path).parent_path() / "config.yml").string();
}

// What the contract or the configuration beside an agent of Stable-Baselines3 says.
std::int64_t TimeFeatureSteps(const std::string& path, const NamedContract& named) {
  const std::int64_t steps = named.contract.time_feature_steps;
  return steps > 0 ? steps : Sb3TimeFeatureSteps(Sb3ConfigPath(path));
}

std::unique_ptr<Policy> FromArrays(const NpzFile& file, const std::string& path,
                                   const NamedContract& named) {
  if (IsCleanRlPolicy(file)) return LoadCleanRl(file, path, named);
  RequireNoMore(path, named);
  if (IsSb3Policy(file)) {
    return PolicyFromSb3(file, TimeFeatureSteps(path, named), path);
  }
  if (IsDopePolicy(file)) return PolicyFromDope(file, path);
  if (file.Has("format") && file.arrays().at("format").type != "O") {
    const std::string format = file.GetText("format");
    if (format == kNetworkPolicyFormat) return NetworkPolicyFromArrays(file, path);
    return std::make_unique<GaussianMlpPolicy>(GaussianMlpPolicy::Get("", path, file));
  }
  if (file.Has("observations") || file.Has("obs")) {
    Throw<PolicyError>("{}: holds observations: it is a log, expected a policy", path);
  }
  std::vector<std::string> names;
  for (const auto& [name, array] : file.arrays()) names.push_back(name);
  names.resize(std::min<std::size_t>(names.size(), 8));
  Throw<PolicyError>("{}: arrays of no known policy ({}, ...), expected {}", path,
                     fmt::join(names, ", "), kReadable);
}

// A state dict that torch.save wrote, where its names are those of a known actor.
std::unique_ptr<Policy> LoadStateDict(const std::string& path, const NamedContract& named) {
  NpzFile file;
  std::string reason;
  try {
    file = ReadTorchArchive(ReadFile(path, kMaxBytes), path);
  } catch (const DataError& error) {
    reason = error.what();
  }
  if (IsCleanRlPolicy(file)) return FromArrays(file, path, named);
  Throw<PolicyError>(
      "{}; a PyTorch state dict or pickled module, which has weights but not the network; {}",
      reason.empty() ? path + ": no actor of CleanRL by its names" : reason, kExport);
}

std::unique_ptr<Policy> LoadZip(const std::string& path, const NamedContract& named) {
  const std::vector<std::string> names = ZipNames(path);
  const auto has = [&](std::string_view name) {
    return AnyOf(names, [&](const std::string& entry) { return entry == name; });
  };
  if (AnyOf(names, [](const std::string& entry) { return entry.ends_with(".npy"); })) {
    return AsPolicyError([&] { return FromArrays(NpzFile::Read(path, kMaxBytes), path, named); });
  }
  if (IsSb3Checkpoint(names)) {
    RequireNoMore(path, named);
    return LoadSb3Checkpoint(path, TimeFeatureSteps(path, named));
  }
  if (has("_stable_baselines3_version") || has("policy.pth")) {
    Throw<PolicyError>("{}: an agent of Stable-Baselines3 without its entry '{}'; save it again",
                       path, has("policy.pth") ? "data" : "policy.pth");
  }
  const bool torch =
      AnyOf(names, [](const std::string& entry) { return entry.ends_with("/data.pkl"); });
  const bool code = AnyOf(
      names, [](const std::string& entry) { return entry.find("/code/") != std::string::npos; });
  if (torch && code) return LoadTorchScript(path, named);
  if (torch) return LoadStateDict(path, named);
  Throw<PolicyError>("{}: an archive of '{}' and {} more entries, expected {}", path,
                     names.empty() ? "" : names.front(), names.empty() ? 0 : names.size() - 1,
                     kReadable);
}

std::unique_ptr<Policy> LoadPickle(const std::string& path, const NamedContract& named) {
  const std::string bytes = ReadFile(path, kMaxBytes);
  // torch.save before PyTorch 1.6 starts with a magic number
  if (bytes.find("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv) == 2) {
    Throw<PolicyError>(
        "{}: a PyTorch state dict in the old format, which has weights but not the network; {}",
        path, kExport);
  }
  const PickleValue value = ParsePickle(bytes, path);
  if (FindKey(value, "torch") != nullptr && FindKey(value, "config") != nullptr) {
    Throw<PolicyError>("{}: a model of d3rlpy; {} d3rlpy", path, kExport);
  }
  const NpzFile file = ArraysOfDict(value, path);
  return FromArrays(file, path, named);
}

// The behavior policy inside a D4RL log.
std::unique_ptr<Policy> LoadHdf5(const std::string& path) {
  try {
    return PolicyFromD4rlMetadata(ReadHdf5Group(path, "metadata"), path);
  } catch (const DataError& error) {
    Throw<PolicyError>("{}; an HDF5 file is a policy where D4RL keeps one, in metadata/policy",
                       error.what());
  }
}

bool LooksLikeOnnx(const std::string& path, std::string_view head) {
  // protobuf: field 1 (ir_version) a small number, then field 2 (producer_name) or 7 (graph)
  const bool protobuf = head.size() > 4 && head[0] == '\x08' && head[1] < 32 &&
                        (head[2] == '\x12' || head[2] == '\x3a');
  return protobuf || fs::path(path).extension() == ".onnx";
}

std::unique_ptr<Policy> LoadByContent(const std::string& path, const NamedContract& named) {
  const std::string head = FirstBytes(path);
  if (head.starts_with("PK\x03\x04"sv)) return LoadZip(path, named);
  if (head.starts_with('\x80')) {
    return AsPolicyError([&] { return LoadPickle(path, named); });
  }
  if (LooksLikeSafetensors(head)) {
    return AsPolicyError(
        [&] { return FromArrays(ReadSafetensors(ReadFile(path, kMaxBytes), path), path, named); });
  }
  if (LooksLikeOnnx(path, head)) {
    Throw<PolicyError>(
        "{}: an ONNX model, expected {}; export the network to TorchScript, or serve it by a "
        "program with "
        "policies/export/serve_policy.py (exec:COMMAND)",
        path, kReadable);
  }
  if (head.starts_with("\x89HDF\r\n"sv)) {
    return LoadHdf5(path);
  }
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".yaml" || extension == ".yml") {
    Throw<PolicyError>(
        "{}: a YAML file; name the policy it belongs to, and this file as its contract", path);
  }
  Throw<PolicyError>("{}: not a policy (an unknown format{}), expected {}", path,
                     head.empty() ? ": the file is empty" : "", kReadable);
}

std::unique_ptr<Policy> LoadProgram(const std::string& path, const NamedContract& named) {
  RequireNoMore(path, named);
  if (named.contract.time_feature_steps > 0) {
    Throw<PolicyError>(
        "{}: time_feature_steps is {}, but a program is told the step of every observation; leave "
        "it out",
        named.path, named.contract.time_feature_steps);
  }
  return std::make_unique<ProgramPolicy>(path.substr(kProgramPrefix.size()));
}

void CheckReadable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    Throw<PolicyError>("{}: a directory, expected {}", path, kReadable);
  }
  if (!fs::exists(status)) Throw<PolicyError>("{}: no such file", path);
  if (!fs::is_regular_file(status) || !std::ifstream(path)) {
    Throw<PolicyError>("{}: cannot be read as a file", path);
  }
}

}  // namespace

std::unique_ptr<Policy> LoadPolicy(const std::string& path, const PolicyLoadOptions& options) {
  const bool program = IsProgramPolicy(path);
  if (!program) CheckReadable(path);
  const NamedContract named = FindContract(path, options);
  std::unique_ptr<Policy> policy = program ? LoadProgram(path, named) : LoadByContent(path, named);
  if (named.contract.stochastic || policy->noise_dim() == 0) return policy;
  return std::make_unique<MeanPolicy>(std::move(policy));
}

std::string PolicyLabel(const std::string& path) {
  return IsProgramPolicy(path) ? ProgramPolicyLabel(path) : fs::path(path).stem().string();
}

std::string PolicyHash(const std::string& path, const PolicyLoadOptions& options) {
  if (IsProgramPolicy(path)) {
    const std::string contract = options.contract.empty() ? "" : Sha256HexOfFile(options.contract);
    return contract.empty() ? ProgramPolicyHash(path)
                            : Sha256Hex(ProgramPolicyHash(path) + contract);
  }
  const std::unique_ptr<Policy> policy = LoadPolicy(path, options);
  const std::string file = Sha256HexOfFile(path);
  const NamedContract named = FindContract(path, options);
  const bool agent =
      FirstBytes(path).starts_with("PK\x03\x04"sv) && IsSb3Checkpoint(ZipNames(path));
  const std::string normalizer = agent ? Sb3NormalizerPath(path) : "";
  if (named.path.empty() && normalizer.empty() && !fs::is_regular_file(Sb3ConfigPath(path))) {
    return file;
  }
  std::string parts = file + policy->Description();
  if (!normalizer.empty()) parts += Sha256HexOfFile(normalizer);
  if (!named.path.empty()) parts += Sha256HexOfFile(named.path);
  if (const std::string statistics = StatisticsPath(named.contract, named.path);
      !statistics.empty()) {
    parts += Sha256HexOfFile(statistics);
  }
  return Sha256Hex(parts);
}

}  // namespace lfiw::policies
