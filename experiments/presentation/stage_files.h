#ifndef LFIW_EXPERIMENTS_PRESENTATION_STAGE_FILES_H_
#define LFIW_EXPERIMENTS_PRESENTATION_STAGE_FILES_H_

#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "core/layers.h"
#include "core/run/atomic_file.h"

namespace lfiw::experiments {

// What stages keep in their folders beside arrays.

// Throws DataError for what is not JSON.
inline nlohmann::json ReadJson(const std::string& path) {
  const std::string text = ReadFile(path);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    Throw<DataError>("{}: not valid JSON: {}", path, error.what());
  }
}

inline void WriteJson(const nlohmann::json& value, const std::string& path) {
  WriteFileAtomically(path, value.dump(1) + "\n");
}

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_STAGE_FILES_H_
