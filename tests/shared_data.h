#ifndef LFIW_TESTS_SHARED_DATA_H_
#define LFIW_TESTS_SHARED_DATA_H_

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/test_paths.h"

namespace lfiw {

// The path of a file that nobody on this project wrote, or an empty text where it is not at hand.
// Such files are kept outside the repository, in the folder that LFIW_SHARED_DATA names or in
// shared/data beside one of the folders above it.
inline std::string SharedData(const std::string& name) {
  namespace fs = std::filesystem;
  if (const char* folder = std::getenv("LFIW_SHARED_DATA")) {
    const fs::path path = fs::path(folder) / name;
    return fs::exists(path) ? path.string() : "";
  }
  fs::path above = fs::path(SourceFile("")).parent_path().parent_path();
  for (; above != above.root_path(); above = above.parent_path()) {
    const fs::path path = above / "shared" / "data" / name;
    if (fs::exists(path)) return path.string();
  }
  return "";
}

}  // namespace lfiw

#endif  // LFIW_TESTS_SHARED_DATA_H_
