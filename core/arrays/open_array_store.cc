#include "core/arrays/open_array_store.h"

#include <fstream>
#include <string_view>

#include "core/arrays/hdf5.h"
#include "core/arrays/npz_store.h"

namespace lfiw::core {
namespace {

constexpr std::string_view kHdf5Magic = "\x89HDF\r\n\x1a\n";
constexpr std::string_view kZipMagic = "PK";

bool StartsWith(const std::string& path, std::string_view magic) {
  std::ifstream file(path, std::ios::binary);
  std::string start(magic.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file.good() && start == magic;
}

}  // namespace

bool LooksLikeHdf5(const std::string& path) { return StartsWith(path, kHdf5Magic); }

bool LooksLikeZip(const std::string& path) { return StartsWith(path, kZipMagic); }

std::unique_ptr<ArrayStore> OpenArrayStore(const std::string& path) {
  if (LooksLikeHdf5(path)) return OpenHdf5(path);
  return OpenNpzStore(path);
}

}  // namespace lfiw::core
