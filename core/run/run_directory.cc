#include "core/run/run_directory.h"

#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/host_name.h"
#include "core/run/sha256.h"

namespace lfiw::core {
namespace {

using nlohmann::ordered_json;

// Text that is not UTF-8 (a path may be) must not keep a run from being recorded.
std::string Dump(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

const char* OutcomeName(StageOutcome outcome) {
  switch (outcome) {
    case StageOutcome::kReused:
      return "reused";
    case StageOutcome::kComputed:
      return "computed";
    case StageOutcome::kReplaced:
      return "replaced";
  }
  return "";
}

ordered_json DescribeSystem(const SystemInfo& system) {
  return {{"cpu", system.cpu_model},         {"cores", system.cores},
          {"cblas", system.cblas_library},   {"blas", system.blas_library},
          {"lapack", system.lapack_library}, {"openblas_config", system.openblas_config},
          {"products", system.products}};
}

// Removes temporary files (".NAME@HOST.PROCESS.COUNT.tmp") of programs that were killed while they
// wrote. Only those of this machine: of another's processes it knows nothing.
void RemoveLeftovers(const std::string& directory) {
  static const std::regex temporary(R"(\..+@(.*)\.([0-9]{1,9})\.[0-9]+\.tmp)");
  const std::string host = HostName();
  std::vector<std::filesystem::path> dead;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    std::smatch match;
    if (!std::regex_match(name, match, temporary) || !entry.is_regular_file(error)) continue;
    if (match[1] != host) continue;
    if (::kill(std::stoi(match[2]), 0) != 0 && errno == ESRCH) dead.push_back(entry.path());
  }
  for (const std::filesystem::path& path : dead) std::filesystem::remove(path, error);
}

}  // namespace

std::string DefaultRunDirectory(const std::string& root, const std::string& name,
                                std::string_view canonical_text) {
  constexpr std::size_t kDigits = 12;
  return fmt::format("{}/{}/{}", root, name, Sha256Hex(canonical_text).substr(0, kDigits));
}

RunDirectory::RunDirectory(std::string path) : path_(std::move(path)) {
  CreateDirectories(path_);
  // fails now rather than after hours of computing
  const AtomicFile probe(File("probe"));
  RemoveLeftovers(path_);
}

void RunDirectory::Write(const std::string& name, std::string_view bytes) const {
  const std::string path = File(name);
  CreateDirectories(std::filesystem::path(path).parent_path().string());
  WriteFileAtomically(path, bytes);
}

void RunDirectory::WriteManifest(const Manifest& manifest, const SystemInfo& system) const {
  ordered_json stages = ordered_json::array();
  for (const StageRecord& stage : manifest.stages) {
    stages.push_back(
        {{"stage", stage.name},
         {"outcome", OutcomeName(stage.outcome)},
         {"seconds", stage.seconds},
         {"computed_seconds",
          stage.computed_seconds ? ordered_json(*stage.computed_seconds) : ordered_json(nullptr)},
         {"cpu_seconds", stage.cpu_seconds},
         {"peak_memory_bytes", stage.peak_memory_bytes},
         {"key", stage.key},
         {"content_sha256", stage.content_hash}});
  }
  const ordered_json json = {{"lfiw", system.version},
                             {"revision", system.revision},
                             {"compiler", system.compiler},
                             {"libraries", manifest.libraries},
                             {"command", manifest.command},
                             {"threads", manifest.threads},
                             {"system", DescribeSystem(system)},
                             {"seeds", manifest.seeds},
                             {"inputs_sha256", manifest.inputs},
                             {"stages", stages},
                             {"peak_memory_bytes", PeakMemoryBytes()}};
  Write("manifest.json", Dump(json, 1));
}

}  // namespace lfiw::core
