#ifndef LFIW_CORE_RUN_FILE_LOCK_H_
#define LFIW_CORE_RUN_FILE_LOCK_H_

#include <memory>
#include <string>

namespace lfiw::core {

// Holds the exclusive lock of a file, which is created if missing and stays. It holds between
// threads and between processes, and ends with the process, however that ends.
class FileLock {
 public:
  // Waits for the lock. Throws DataError if the file cannot be opened or locked, Interrupted if the
  // user interrupts the wait.
  explicit FileLock(const std::string& path);
  // Takes the lock if nobody holds it; else returns null. Throws DataError as the constructor.
  static std::unique_ptr<FileLock> Try(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_FILE_LOCK_H_
