#include "policies/files/torch_archive.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arrays/pickle.h"
#include "core/arrays/zip_archive.h"
#include "core/error.h"

namespace lfiw::policies {
namespace {

constexpr std::string_view kPickleEntry = "/data.pkl";
constexpr std::int64_t kMaxTorchPickle = std::int64_t{1} << 26;

// The value itself, or of a list that begins with a dictionary its first item.
const PickleValue& FirstDict(const PickleValue& value) {
  const auto* list = std::get_if<PickleValue::List>(&value.value);
  const bool several = list != nullptr && !list->empty() &&
                       std::holds_alternative<PickleValue::Dict>(list->front().value);
  return several ? list->front() : value;
}

}  // namespace

NpzFile ReadTorchArchive(std::string bytes, const std::string& source) {
  const ZipArchive archive = ZipArchive::OpenBytes(std::move(bytes), source);
  const std::vector<std::string>& names = archive.names();
  const auto pickle = std::find_if(names.begin(), names.end(), [](const std::string& name) {
    return name.ends_with(kPickleEntry);
  });
  if (pickle == names.end()) Throw<DataError>("{}: no archive that torch.save wrote", source);
  const std::string folder = pickle->substr(0, pickle->size() - kPickleEntry.size());
  if (const std::string order = folder + "/byteorder";
      archive.Has(order) && archive.Read(order, 16) != "little") {
    Throw<DataError>("{}: big-endian tensors, expected little-endian ones", source);
  }
  const PickleOptions options{.objects = false,
                              .storage = [&](const std::string& key, std::int64_t size) {
                                return archive.Read(folder + "/data/" + key, size);
                              }};
  const PickleValue value = ParsePickle(archive.Read(*pickle, kMaxTorchPickle), source, options);
  return ArraysOfDict(FirstDict(value), source);
}

}  // namespace lfiw::policies
