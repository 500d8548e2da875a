#ifndef LFIW_EXPERIMENTS_STAGE_FILES_H_
#define LFIW_EXPERIMENTS_STAGE_FILES_H_

#include <nlohmann/json.hpp>
#include <string>

#include "core/atomic_file.h"
#include "core/stage_cache.h"

namespace lfiw {

// What stages keep in their folders beside arrays.

inline nlohmann::json ReadJson(const std::string& path) {
  return nlohmann::json::parse(ReadFile(path));
}

inline void WriteJson(const nlohmann::json& value, const std::string& path) {
  WriteFileAtomically(path, value.dump(1) + "\n");
}

inline std::string CheckpointFolder(const std::string& directory) {
  return directory + "/" + StageCache::kCheckpointFolder;
}

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_STAGE_FILES_H_
