#include "core/arrays/safetensors.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.h"

namespace lfiw::core {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = std::uint64_t{1} << 26;

// numpy's name of a type, and its bytes per number.
struct TensorType {
  std::string name;
  std::int64_t size;
};

const std::map<std::string, TensorType>& KnownTypes() {
  static const std::map<std::string, TensorType> types = {
      {"F16", {"f2", 2}}, {"F32", {"f4", 4}}, {"F64", {"f8", 8}}, {"BF16", {"bf16", 2}},
      {"I8", {"i1", 1}},  {"I16", {"i2", 2}}, {"I32", {"i4", 4}}, {"I64", {"i8", 8}},
      {"U8", {"u1", 1}},  {"BOOL", {"b1", 1}}};
  return types;
}

std::uint64_t LengthOf(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t k = kLengthBytes; k-- > 0;) {
    length = length << 8U | static_cast<std::uint8_t>(bytes[k]);
  }
  return length;
}

// bfloat16 is the upper half of a float.
std::vector<std::byte> Widened(std::string_view data) {
  std::vector<std::byte> out(2 * data.size(), std::byte{0});
  for (std::size_t i = 0; i + 1 < data.size(); i += 2) std::memcpy(&out[2 * i + 2], &data[i], 2);
  return out;
}

// A whole number of at least 0 that `value` holds; DataError otherwise.
std::int64_t Whole(const Json& value, const std::string& what) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::uint64_t{1} << 40U) {
    Throw<DataError>("{} is {}, expected a whole number", what, value.dump());
  }
  return value.get<std::int64_t>();
}

NpzArray ReadTensor(const Json& entry, std::string_view data, const std::string& place) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2) {
    Throw<DataError>("{}: expected dtype, shape and two data_offsets", place);
  }
  const auto found = KnownTypes().find(entry["dtype"].get<std::string>());
  if (found == KnownTypes().end()) {
    Throw<DataError>(
        "{}: numbers of type {}, expected one of F16, BF16, F32, F64, BOOL, U8 and I8 "
        "to I64",
        place, entry["dtype"].dump());
  }
  NpzArray array{.type = found->second.name, .shape = {}, .bytes = {}};
  const std::int64_t begin = Whole(entry["data_offsets"][0], place + ": data_offsets");
  const std::int64_t end = Whole(entry["data_offsets"][1], place + ": data_offsets");
  std::int64_t size = found->second.size;
  const std::int64_t available = std::ssize(data);
  for (const Json& dimension : entry["shape"]) {
    array.shape.push_back(Whole(dimension, place + ": shape"));
    if (array.shape.back() > 0 && size > available / array.shape.back())
      size = available + 1;
    else
      size *= array.shape.back();
  }
  if (begin > end || end > available || end - begin != size) {
    Throw<DataError>("{}: bytes {} to {} of {} for shape {}", place, begin, end, available,
                     entry["shape"].dump());
  }
  const std::string_view own =
      data.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
  if (array.type == "bf16") {
    array.type = "f4";
    array.bytes = Widened(own);
  } else {
    const auto* first = reinterpret_cast<const std::byte*>(own.data());
    array.bytes.assign(first, first + own.size());
  }
  return array;
}

}  // namespace

bool LooksLikeSafetensors(std::string_view head) {
  return head.size() > kLengthBytes && head[kLengthBytes] == '{' && LengthOf(head) >= 2 &&
         LengthOf(head) <= kMaxHeader;
}

NpzFile ReadSafetensors(std::string_view bytes, const std::string& source) {
  if (!LooksLikeSafetensors(bytes) || bytes.size() - kLengthBytes < LengthOf(bytes)) {
    Throw<DataError>("{}: no safetensors file, or cut short", source);
  }
  const auto length = static_cast<std::size_t>(LengthOf(bytes));
  const Json header = Json::parse(bytes.substr(kLengthBytes, length), nullptr, false);
  if (!header.is_object()) Throw<DataError>("{}: its header is not an object of JSON", source);
  const std::string_view data = bytes.substr(kLengthBytes + length);
  NpzFile file;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, text] : entry.items()) {
        if (text.is_string()) file.Put("__metadata__." + key, text.get<std::string>());
      }
      continue;
    }
    file.Put(name, ReadTensor(entry, data, fmt::format("{}: tensor {}", source, name)));
  }
  return file;
}

}  // namespace lfiw::core
