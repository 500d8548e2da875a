#ifndef LFIW_CORE_ARRAYS_ZIP_ARCHIVE_H_
#define LFIW_CORE_ARRAYS_ZIP_ARCHIVE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lfiw::core {

// A zip archive in a file or in memory, read entry by entry. What an entry claims to hold is
// checked before anything is allocated, and its checksum after. Everything throws DataError that
// names the archive and the entry. For one thread at a time.
class ZipArchive {
 public:
  static ZipArchive OpenFile(const std::string& path);
  // `source` names the archive in errors.
  static ZipArchive OpenBytes(std::string bytes, const std::string& source);
  ZipArchive(ZipArchive&&) noexcept;
  ZipArchive& operator=(ZipArchive&&) noexcept;
  ~ZipArchive();

  const std::vector<std::string>& names() const;
  bool Has(const std::string& name) const;
  // The content of an entry, stored or deflated, of at most `max_bytes` bytes.
  std::string Read(const std::string& name, std::int64_t max_bytes) const;

 private:
  struct Impl;
  explicit ZipArchive(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_ZIP_ARCHIVE_H_
