#ifndef LFIW_TESTS_SHARED_DATA_H_
#define LFIW_TESTS_SHARED_DATA_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lfiw {

// A file of the shared data sets beside the project, named by $LFIW_SHARED_DATA or found in a
// folder "shared" above the sources. "" where it is absent: the test should then be skipped.
inline std::string SharedData(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const char* root = std::getenv("LFIW_SHARED_DATA")) {
    return fs::exists(fs::path(root) / name, error) ? (fs::path(root) / name).string() : "";
  }
  for (fs::path at = LFIW_SOURCE_DIR; at.has_relative_path(); at = at.parent_path()) {
    const fs::path candidate = at / "shared/data" / name;
    if (fs::exists(candidate, error)) return candidate.string();
  }
  return "";
}

}  // namespace lfiw

#endif  // LFIW_TESTS_SHARED_DATA_H_
