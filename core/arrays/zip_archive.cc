#include "core/arrays/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

#include "core/arrays/npz_entry.h"
#include "core/error.h"

namespace lfiw::core {
namespace {

// deflate cannot compress better than 1032 : 1
constexpr zip_uint64_t kMaxArchiveRatio = 1032;

}  // namespace

struct ZipArchive::Impl {
  std::string source;
  std::uint64_t size = 0;  // of the archive in bytes
  std::string bytes;       // of an archive in memory; outlives `zip`
  Zip zip;
  std::vector<std::string> names;

  void List() {
    const zip_int64_t count = zip_get_num_entries(zip.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const char* name = zip_get_name(zip.get(), static_cast<zip_uint64_t>(i), 0);
      names.emplace_back(name == nullptr ? "" : name);
    }
  }
};

ZipArchive::ZipArchive(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) { impl_->List(); }
ZipArchive::ZipArchive(ZipArchive&&) noexcept = default;
ZipArchive& ZipArchive::operator=(ZipArchive&&) noexcept = default;
ZipArchive::~ZipArchive() = default;

ZipArchive ZipArchive::OpenFile(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->source = path;
  int code = 0;
  impl->zip = Zip(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!impl->zip) Throw<DataError>("{}: a damaged or cut off archive; copy the file again", path);
  impl->size = std::filesystem::file_size(path);
  return ZipArchive(std::move(impl));
}

ZipArchive ZipArchive::OpenBytes(std::string bytes, const std::string& source) {
  auto impl = std::make_unique<Impl>();
  impl->source = source;
  impl->bytes = std::move(bytes);
  impl->size = impl->bytes.size();
  // the library takes nothing for an archive without entries
  if (impl->bytes.empty()) Throw<DataError>("{}: empty, expected an archive", source);
  zip_source_t* buffer =
      zip_source_buffer_create(impl->bytes.data(), impl->bytes.size(), 0, nullptr);
  if (buffer != nullptr) impl->zip = Zip(zip_open_from_source(buffer, ZIP_RDONLY, nullptr));
  if (!impl->zip) {
    if (buffer != nullptr) zip_source_free(buffer);
    Throw<DataError>("{}: no archive, or a damaged one; copy the file again", source);
  }
  return ZipArchive(std::move(impl));
}

const std::vector<std::string>& ZipArchive::names() const { return impl_->names; }

bool ZipArchive::Has(const std::string& name) const {
  return std::find(impl_->names.begin(), impl_->names.end(), name) != impl_->names.end();
}

std::string ZipArchive::Read(const std::string& name, std::int64_t max_bytes) const {
  const std::string where = fmt::format("{}: entry '{}'", impl_->source, name);
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_INDEX;
  if (zip_stat(impl_->zip.get(), name.c_str(), 0, &stat) != 0 ||
      (stat.valid & kNeeded) != kNeeded) {
    Throw<DataError>("{}: missing", where);
  }
  if (stat.comp_size > impl_->size || stat.size / kMaxArchiveRatio > stat.comp_size) {
    Throw<DataError>("{}: claims {} bytes in an archive of {}; the file is damaged or cut off",
                     where, stat.size, impl_->size);
  }
  if (!std::in_range<std::int64_t>(stat.size) || static_cast<std::int64_t>(stat.size) > max_bytes) {
    Throw<DataError>("{}: {} bytes, expected at most {}", where, stat.size, max_bytes);
  }
  const Entry entry(zip_fopen_index(impl_->zip.get(), stat.index, 0));
  if (!entry) {
    Throw<DataError>("{}: cannot be read: {}", where, zip_strerror(impl_->zip.get()));
  }
  std::string content(static_cast<std::size_t>(stat.size), '\0');
  ReadExactly(entry.get(), std::as_writable_bytes(std::span(content)), where);
  CheckEnd(entry.get(), where);
  return content;
}

}  // namespace lfiw::core
