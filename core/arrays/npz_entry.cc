#include "core/arrays/npz_entry.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "core/error.h"

namespace lfiw::core {
namespace {

constexpr std::string_view kEntrySuffix = ".npy";
// deflate cannot compress better than 1032 : 1
constexpr std::int64_t kMaxDeflateRatio = 1032;
constexpr std::size_t kMaxHeaderBytes = 1 << 20;

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

// Whether the first bytes are those of a zip archive, whatever its end.
bool StartsLikeZip(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[4] = {};
  file.read(start, sizeof start);
  return std::string_view(start, sizeof start) == std::string_view("PK\x03\x04", 4);
}

}  // namespace

Zip OpenZip(const std::string& path, int flags, std::string_view verb) {
  int code = 0;
  Zip zip(zip_open(path.c_str(), flags, &code));
  if (!zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (code == ZIP_ER_NOZIP && StartsLikeZip(path)) {
      Throw<DataError>(
          "cannot {} {} as a .npz file: it is cut off (its end, with the list of arrays, is "
          "missing); copy or write it again",
          verb, path);
    }
    Throw<DataError>("cannot {} {} as a .npz file: {}", verb, path, reason);
  }
  return zip;
}

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

Zip OpenNpz(const std::string& path) {
  std::error_code error;
  const auto file_size = std::filesystem::file_size(path, error);
  if (error) Throw<DataError>("cannot read {}: {}", path, error.message());
  if (file_size == 0) Throw<DataError>("{}: the file is empty, expected a .npz file", path);
  return OpenZip(path, ZIP_RDONLY, "read");
}

std::vector<NpyEntryInfo> ListNpyEntries(zip_t* zip, const std::string& path) {
  std::vector<NpyEntryInfo> entries;
  std::set<std::string> names;
  const auto file_size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const zip_int64_t count = zip_get_num_entries(zip, 0);
  for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(count); ++i) {
    zip_stat_t stat;
    if (zip_stat_index(zip, i, 0, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0) {
      Throw<DataError>("{}: entry {}: {}", path, i, zip_strerror(zip));
    }
    std::string name = stat.name;
    // a name is part of messages, which are one line
    if (std::ranges::any_of(name, [](unsigned char c) { return c < ' '; })) {
      Throw<DataError>("{}: the name of entry {} holds a control character", path, i);
    }
    if (!name.ends_with(kEntrySuffix)) {
      Throw<DataError>("{}: entry '{}' is not a .npy array", path, name);
    }
    name.resize(name.size() - kEntrySuffix.size());
    const std::string where = fmt::format("{}: array '{}'", path, name);
    if (!names.insert(name).second) Throw<DataError>("{}: the name occurs twice", where);
    entries.push_back({name, i, CheckedSize(stat, file_size, where)});
  }
  return entries;
}

NpyEntry OpenNpyEntry(zip_t* zip, const NpyEntryInfo& info, std::string_view where) {
  Entry entry(zip_fopen_index(zip, info.index, 0));
  if (!entry) Throw<DataError>("{}: {}", where, zip_strerror(zip));
  auto [header, header_size] = ReadHeader(entry.get(), where);
  if (NpyItemSize(header.type) == 0) return {std::move(entry), std::move(header), 0};

  const std::int64_t bytes = NpyByteCount(header, where);
  if (bytes != info.size - header_size) {
    Throw<DataError>("{}: shape [{}] of type {} needs {} bytes, the file holds {}", where,
                     fmt::join(header.shape, ", "), header.type, bytes, info.size - header_size);
  }
  return {std::move(entry), std::move(header), bytes};
}

void CheckEnd(zip_file_t* entry, std::string_view where) {
  std::byte extra;
  if (zip_fread(entry, &extra, 1) != 0) {
    Throw<DataError>("{}: {}", where, zip_error_strerror(zip_file_get_error(entry)));
  }
}

}  // namespace lfiw::core
