#include "core/npz.h"

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

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/npy_header.h"

namespace lfiw {
namespace {

constexpr std::string_view kSuffix = ".npy";
// deflate cannot compress better than 1032 : 1
constexpr std::int64_t kMaxDeflateRatio = 1032;
constexpr std::size_t kMaxHeaderBytes = 1 << 20;
// 1 January 1980, the epoch of zip files
constexpr zip_uint16_t kZipEpochDate = (1 << 5) | 1;

struct DiscardZip {
  void operator()(zip_t* zip) const { zip_discard(zip); }
};
using Zip = std::unique_ptr<zip_t, DiscardZip>;

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

Zip OpenZip(const std::string& path, int flags, std::string_view verb) {
  int code = 0;
  Zip zip(zip_open(path.c_str(), flags, &code));
  if (!zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    Throw<DataError>("cannot {} {} as a .npz file: {}", verb, path, reason);
  }
  return zip;
}

// Fills `out` from an entry; a file that ends early or fails its checksum is an error.
void ReadExactly(zip_file_t* entry, std::span<std::byte> out, std::string_view where) {
  while (!out.empty()) {
    const zip_int64_t count = zip_fread(entry, out.data(), out.size());
    if (count < 0) {
      Throw<DataError>("{}: {}", where, zip_error_strerror(zip_file_get_error(entry)));
    }
    if (count == 0) Throw<DataError>("{}: {} bytes are missing at the end", where, out.size());
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

std::string ReadText(zip_file_t* entry, std::size_t size, std::string_view where) {
  std::string text(size, '\0');
  ReadExactly(entry, std::as_writable_bytes(std::span(text)), where);
  return text;
}

// The header at the start of an entry and its size in bytes.
std::pair<NpyHeader, std::int64_t> ReadHeader(zip_file_t* entry, std::string_view where) {
  const std::size_t length_size = NpyLengthSize(ReadText(entry, kNpyPreambleSize, where), where);
  const std::string length_bytes = ReadText(entry, length_size, where);
  std::size_t length = 0;
  for (std::size_t k = length_size; k > 0; --k) {
    length = (length << 8) | static_cast<unsigned char>(length_bytes[k - 1]);
  }
  if (length > kMaxHeaderBytes) {
    Throw<DataError>("{}: a numpy header of {} bytes, expected at most {}", where, length,
                     kMaxHeaderBytes);
  }
  NpyHeader header = ParseNpyHeader(ReadText(entry, length, where), where);
  return {std::move(header), static_cast<std::int64_t>(kNpyPreambleSize + length_size + length)};
}

// The size of an entry, checked against what its compressed bytes in the file can hold.
std::int64_t CheckedSize(const zip_stat_t& stat, std::int64_t file_size, std::string_view where) {
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & kNeeded) != kNeeded ||
      (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)) {
    Throw<DataError>("{}: an unknown compression, expected stored or deflated", where);
  }
  const auto file_bytes = static_cast<zip_uint64_t>(file_size);
  const zip_uint64_t ratio = stat.comp_method == ZIP_CM_STORE ? 1 : kMaxDeflateRatio;
  if (stat.comp_size > file_bytes || stat.size / ratio > stat.comp_size) {
    Throw<DataError>("{}: claims {} bytes in a file of {}; the file is damaged or cut off", where,
                     stat.size, file_size);
  }
  return static_cast<std::int64_t>(stat.size);
}

NpzArray ReadArray(zip_t* zip, zip_uint64_t index, std::int64_t size, std::string_view where) {
  Entry entry(zip_fopen_index(zip, index, 0));
  if (!entry) Throw<DataError>("{}: {}", where, zip_strerror(zip));
  auto [header, header_size] = ReadHeader(entry.get(), where);
  NpzArray array{header.type, header.shape, {}};
  if (NpyItemSize(header.type) == 0) return array;

  const std::int64_t bytes = NpyByteCount(header, where);
  if (bytes != size - header_size) {
    Throw<DataError>("{}: shape [{}] of type {} needs {} bytes, the file holds {}", where,
                     fmt::join(header.shape, ", "), header.type, bytes, size - header_size);
  }
  array.bytes.resize(static_cast<std::size_t>(bytes));
  ReadExactly(entry.get(), array.bytes, where);
  // the checksum is compared when the end is reached
  std::byte extra;
  if (zip_fread(entry.get(), &extra, 1) != 0) {
    Throw<DataError>("{}: {}", where, zip_error_strerror(zip_file_get_error(entry.get())));
  }
  if (header.fortran_order && header.shape.size() > 1) {
    array.bytes = RowMajorBytes(array.bytes, header);
  }
  return array;
}

// Calls visit(value) for every item of an array of T.
template <class T, class Visit>
void ForEach(const NpzArray& array, Visit& visit) {
  const std::size_t count = array.bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    visit(value);
  }
}

// False if `array` holds no floating-point numbers of a C++ type.
template <class Visit>
bool VisitFloats(const NpzArray& array, Visit visit) {
  if (array.type == "f4") return ForEach<float>(array, visit), true;
  if (array.type == "f8") return ForEach<double>(array, visit), true;
  return false;
}

// False if `array` holds no integers.
template <class Visit>
bool VisitIntegers(const NpzArray& array, Visit visit) {
  if (array.type == "i8") return ForEach<std::int64_t>(array, visit), true;
  if (array.type == "i4") return ForEach<std::int32_t>(array, visit), true;
  if (array.type == "i2") return ForEach<std::int16_t>(array, visit), true;
  if (array.type == "i1") return ForEach<std::int8_t>(array, visit), true;
  if (array.type == "u8") return ForEach<std::uint64_t>(array, visit), true;
  if (array.type == "u4") return ForEach<std::uint32_t>(array, visit), true;
  if (array.type == "u2") return ForEach<std::uint16_t>(array, visit), true;
  if (array.type == "u1" || array.type == "b1") return ForEach<std::uint8_t>(array, visit), true;
  return false;
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
  std::error_code error;
  const auto file_size = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  if (error) Throw<DataError>("cannot read {}: {}", path, error.message());
  if (file_size == 0) Throw<DataError>("{}: the file is empty, expected a .npz file", path);

  NpzFile file;
  file.path_ = path;
  const Zip zip = OpenZip(path, ZIP_RDONLY, "read");
  const zip_int64_t entries = zip_get_num_entries(zip.get(), 0);
  std::int64_t total = 0;
  for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(entries); ++i) {
    zip_stat_t stat;
    if (zip_stat_index(zip.get(), i, 0, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0) {
      Throw<DataError>("{}: entry {}: {}", path, i, zip_strerror(zip.get()));
    }
    std::string name = stat.name;
    if (!name.ends_with(kSuffix)) {
      Throw<DataError>("{}: entry '{}' is not a .npy array", path, name);
    }
    name.resize(name.size() - kSuffix.size());
    const std::string where = fmt::format("{}: array '{}'", path, name);
    const std::int64_t size = CheckedSize(stat, file_size, where);
    if (size > max_bytes - total) {
      Throw<DataError>("{}: {} more bytes would exceed the limit of {} bytes", where, size,
                       max_bytes);
    }
    total += size;
    if (!file.arrays_.emplace(name, ReadArray(zip.get(), i, size, where)).second) {
      Throw<DataError>("{}: the name occurs twice", where);
    }
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

}  // namespace lfiw
