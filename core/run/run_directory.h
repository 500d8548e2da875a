#ifndef LFIW_CORE_RUN_RUN_DIRECTORY_H_
#define LFIW_CORE_RUN_RUN_DIRECTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/stage_cache.h"
#include "core/run/system_info.h"

namespace lfiw::core {

// What a run was made of, for manifest.json.
struct Manifest {
  std::string command;                           // the command line
  std::map<std::string, std::string> libraries;  // "libtorch" -> "1.13.1"
  std::map<std::string, std::uint64_t> seeds;    // "run" -> 0
  std::map<std::string, std::string> inputs;     // path -> SHA-256 of its content
  std::vector<StageRecord> stages;
  int threads = 0;
};

// "ROOT/NAME/HASH", where HASH is short and names the configuration `canonical_text`.
std::string DefaultRunDirectory(const std::string& root, const std::string& name,
                                std::string_view canonical_text);

// The directory of one run. Files appear whole or not at all. Everything throws DataError that
// names the path and the system's reason.
class RunDirectory {
 public:
  // Creates the directory and its parents and makes sure that it can be written to.
  explicit RunDirectory(std::string path);

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

  // `name` may hold folders ("plots/sweep.svg"), which are created.
  void Write(const std::string& name, std::string_view bytes) const;
  void WriteManifest(const Manifest& manifest, const SystemInfo& system) const;

 private:
  std::string path_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_RUN_DIRECTORY_H_
