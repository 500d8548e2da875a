#ifndef LFIW_CORE_RUN_ATOMIC_FILE_H_
#define LFIW_CORE_RUN_ATOMIC_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace lfiw::core {

// A file that appears under its name only when it is whole: write to `temporary()`, in the same
// directory, then Commit. Without Commit the temporary file is removed. All members throw DataError
// that names the path and the system's reason (no such directory, no space left, ...).
class AtomicFile {
 public:
  // Creates the empty temporary file. `path` may name a regular file, which Commit replaces, or
  // nothing; devices and directories are refused.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& temporary() const { return temporary_; }

  // Flushes the temporary file to disk, renames it to `path` and flushes the directory.
  void Commit();

 private:
  std::string path_;
  std::string temporary_;
  bool committed_ = false;
};

// Writes a whole file through AtomicFile: a reader, also after a crash, sees the old or the new
// content and nothing between.
void WriteFileAtomically(const std::string& path, std::string_view bytes);

// The content of a file. Throws DataError when it cannot be read or exceeds `max_bytes`.
std::string ReadFile(const std::string& path, std::int64_t max_bytes = std::int64_t{1} << 30);

// Creates a directory and its parents where missing. Throws DataError (a file in the way, ...).
void CreateDirectories(const std::string& path);

// Flushes a file or a directory to disk. Throws DataError.
void SyncToDisk(const std::string& path);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_ATOMIC_FILE_H_
