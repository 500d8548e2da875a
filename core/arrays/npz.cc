#include "core/arrays/npz.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/arrays/array_visit.h"
#include "core/arrays/npy_header.h"
#include "core/arrays/npz_entry.h"
#include "core/error.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

constexpr std::string_view kSuffix = ".npy";
// 1 January 1980, the epoch of zip files
constexpr zip_uint16_t kZipEpochDate = (1 << 5) | 1;

NpzArray ReadArray(zip_t* zip, const NpyEntryInfo& info, std::string_view where) {
  NpyEntry opened = OpenNpyEntry(zip, info, where);
  const NpyHeader& header = opened.header;
  NpzArray array{header.type, header.shape, {}};
  if (NpyItemSize(header.type) == 0) return array;

  array.bytes.resize(static_cast<std::size_t>(opened.bytes));
  ReadExactly(opened.entry.get(), array.bytes, where);
  CheckEnd(opened.entry.get(), where);
  if (header.fortran_order && header.shape.size() > 1) {
    array.bytes = RowMajorBytes(array.bytes, header);
  }
  return array;
}

std::string Describe(const NpzArray& array) {
  return fmt::format("type {} and shape [{}]", array.type, fmt::join(array.shape, ", "));
}

[[noreturn]] void RejectType(const std::string& path, const std::string& name,
                             const NpzArray& array, std::string_view expected) {
  Throw<DataError>("{}: array '{}' has {}, expected {}", path, name, Describe(array), expected);
}

template <class T>
NpzArray MakeArray(std::string type, std::vector<std::int64_t> shape, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {std::move(type), std::move(shape), {bytes.begin(), bytes.end()}};
}

template <class T>
std::vector<T> ToFloats(const std::string& path, const std::string& name, const NpzArray& array) {
  std::vector<T> out;
  out.reserve(array.bytes.size() / 4);
  if (!VisitFloats(array, [&](auto value) { out.push_back(static_cast<T>(value)); })) {
    RejectType(path, name, array, "type f4 or f8");
  }
  return out;
}

// numpy's 4-byte code points as UTF-8, without the zero padding at the end.
std::string Utf8FromUtf32(const NpzArray& array) {
  std::string text;
  const auto append = [&](std::uint32_t code) {
    const auto continuation = [&](int shift) {
      text += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
    };
    if (code == 0) return;
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xc0 | (code >> 6));
      continuation(0);
    } else if (code < 0x10000) {
      text += static_cast<char>(0xe0 | (code >> 12));
      continuation(6);
      continuation(0);
    } else {
      text += static_cast<char>(0xf0 | ((code >> 18) & 0x07));
      continuation(12);
      continuation(6);
      continuation(0);
    }
  };
  ForEach<std::uint32_t>(array, append);
  return text;
}

// Adds one array to an archive. `header` and the array must outlive the archive's closing.
void AddEntry(zip_t* zip, const std::string& name, const std::string& header, const NpzArray& array,
              const std::string& path) {
  const std::array<zip_buffer_fragment_t, 2> fragments = {{
      {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(header.data())), header.size()},
      {reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(array.bytes.data())),
       array.bytes.size()},
  }};
  const zip_uint64_t count = array.bytes.empty() ? 1 : 2;
  zip_source_t* source = zip_source_buffer_fragment(zip, fragments.data(), count, 0);
  const zip_int64_t index =
      source == nullptr
          ? -1
          : zip_file_add(zip, (name + std::string(kSuffix)).c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    if (source != nullptr) zip_source_free(source);
    Throw<DataError>("cannot write {}: array '{}': {}", path, name, zip_strerror(zip));
  }
  const auto entry = static_cast<zip_uint64_t>(index);
  zip_set_file_compression(zip, entry, ZIP_CM_STORE, 0);
  zip_file_set_dostime(zip, entry, 0, kZipEpochDate, 0);
}

}  // namespace

NpzFile NpzFile::Read(const std::string& path, std::int64_t max_bytes) {
  NpzFile file;
  file.path_ = path;
  const Zip zip = OpenNpz(path);
  std::int64_t total = 0;
  for (const NpyEntryInfo& info : ListNpyEntries(zip.get(), path)) {
    const std::string where = fmt::format("{}: array '{}'", path, info.name);
    if (info.size > max_bytes - total) {
      Throw<DataError>("{}: {} more bytes would exceed the limit of {} bytes", where, info.size,
                       max_bytes);
    }
    total += info.size;
    file.arrays_.emplace(info.name, ReadArray(zip.get(), info, where));
  }
  return file;
}

void NpzFile::Write(const std::string& path) const {
  LFIW_ASSERT(!arrays_.empty());
  AtomicFile file(path);
  std::vector<std::string> headers;
  headers.reserve(arrays_.size());
  Zip zip = OpenZip(file.temporary(), ZIP_CREATE | ZIP_TRUNCATE, "write");
  for (const auto& [name, array] : arrays_) {
    const NpyHeader header{array.type, array.shape, false};
    if (NpyByteCount(header, name) != static_cast<std::int64_t>(array.bytes.size())) {
      RejectType(path, name, array, fmt::format("one that fits its {} bytes", array.bytes.size()));
    }
    headers.push_back(FormatNpyHeader(header));
    AddEntry(zip.get(), name, headers.back(), array, path);
  }
  if (zip_close(zip.get()) != 0) {
    Throw<DataError>("cannot write {}: {}", path, zip_strerror(zip.get()));
  }
  // a successful close has freed the archive
  static_cast<void>(zip.release());
  file.Commit();
}

void NpzFile::Put(const std::string& name, const MatrixF& values) {
  Put(name, MakeArray<float>("f4", {values.rows(), values.cols()},
                             {values.data(), static_cast<std::size_t>(values.size())}));
}

void NpzFile::Put(const std::string& name, const VectorF& values) {
  Put(name, MakeArray<float>("f4", {values.size()},
                             {values.data(), static_cast<std::size_t>(values.size())}));
}

void NpzFile::Put(const std::string& name, const std::vector<double>& values) {
  Put(name, MakeArray<double>("f8", {static_cast<std::int64_t>(values.size())}, values));
}

void NpzFile::Put(const std::string& name, const std::vector<float>& values) {
  Put(name, MakeArray<float>("f4", {static_cast<std::int64_t>(values.size())}, values));
}

void NpzFile::Put(const std::string& name, const std::vector<std::int64_t>& values) {
  Put(name, MakeArray<std::int64_t>("i8", {static_cast<std::int64_t>(values.size())}, values));
}

void NpzFile::Put(const std::string& name, const std::vector<std::uint8_t>& values) {
  Put(name, MakeArray<std::uint8_t>("u1", {static_cast<std::int64_t>(values.size())}, values));
}

void NpzFile::Put(const std::string& name, const std::string& text) {
  Put(name, MakeArray<char>("u1", {static_cast<std::int64_t>(text.size())}, text));
}

void NpzFile::Put(const std::string& name, NpzArray array) {
  arrays_.insert_or_assign(name, std::move(array));
}

MatrixF NpzFile::GetMatrix(const std::string& name) const {
  const NpzArray& array = Find(name);
  if (array.shape.size() != 2) RejectType(path_, name, array, "a matrix");
  const std::vector<float> values = ToFloats<float>(path_, name, array);
  return Eigen::Map<const MatrixF>(values.data(), array.shape[0], array.shape[1]);
}

VectorF NpzFile::GetVector(const std::string& name) const {
  const NpzArray& array = Find(name);
  if (array.shape.size() != 1) RejectType(path_, name, array, "a vector");
  const std::vector<float> values = ToFloats<float>(path_, name, array);
  return Eigen::Map<const VectorF>(values.data(), array.shape[0]);
}

std::vector<double> NpzFile::GetDoubles(const std::string& name) const {
  return ToFloats<double>(path_, name, Find(name));
}

std::vector<float> NpzFile::GetFloats(const std::string& name) const {
  return ToFloats<float>(path_, name, Find(name));
}

std::vector<std::int64_t> NpzFile::GetIntegers(const std::string& name) const {
  const NpzArray& array = Find(name);
  std::vector<std::int64_t> out;
  const auto append = [&](auto value) {
    if (!std::in_range<std::int64_t>(value)) {
      Throw<DataError>("{}: array '{}' holds {}, expected a 64-bit signed integer", path_, name,
                       value);
    }
    out.push_back(static_cast<std::int64_t>(value));
  };
  if (!VisitIntegers(array, append)) RejectType(path_, name, array, "an integer type");
  return out;
}

std::vector<std::uint8_t> NpzFile::GetBytes(const std::string& name) const {
  const NpzArray& array = Find(name);
  if (array.type != "u1" && array.type != "b1") RejectType(path_, name, array, "type u1 or b1");
  std::vector<std::uint8_t> out(array.bytes.size());
  if (!out.empty()) std::memcpy(out.data(), array.bytes.data(), out.size());
  return out;
}

std::string NpzFile::GetText(const std::string& name) const {
  const NpzArray& array = Find(name);
  if (array.type.starts_with('U') && array.shape.empty()) return Utf8FromUtf32(array);
  const bool text = (array.type == "u1" && array.shape.size() == 1) ||
                    (array.type.starts_with('S') && array.shape.empty());
  if (!text) RejectType(path_, name, array, "a text");
  return {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()};
}

const NpzArray& NpzFile::Find(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [other, array] : arrays_) names.push_back(other);
    Throw<DataError>("{}: array '{}' is missing; it holds {}", path_, name,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  return found->second;
}

}  // namespace lfiw::core
