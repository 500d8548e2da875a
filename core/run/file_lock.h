#ifndef LFIW_CORE_RUN_FILE_LOCK_H_
#define LFIW_CORE_RUN_FILE_LOCK_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lfiw::core {

enum class LockKind {
  kExclusive,
  kShared,  // any number of holders, while nobody holds it exclusively
};

// Holds the lock of a file, which is created if missing and stays. It holds between threads and
// between processes, and ends with the process, however that ends.
class FileLock {
 public:
  // Waits for the exclusive lock. Throws DataError if the file cannot be opened or locked,
  // Interrupted if the user interrupts the wait.
  explicit FileLock(const std::string& path);
  // Takes the lock if nobody's stands against it; else returns null. Throws DataError as the
  // constructor.
  static std::unique_ptr<FileLock> Try(const std::string& path,
                                       LockKind kind = LockKind::kExclusive);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Writes "HOST PID" into the file, for HolderOf. What cannot be written is left out.
  void NameHolder() const;

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_;
};

// Who holds a lock, as NameHolder wrote it.
struct LockHolder {
  std::string host;  // empty if the file does not say
  std::int64_t process = 0;
};

// Reads who took the lock of a file last. Only a lock that is held is held by them.
LockHolder HolderOf(const std::string& path);

// Waits until at least one of the files' locks is free. The longer it takes, the more rarely it
// asks, up to once a second for each file. Throws as the constructor of FileLock.
void WaitForAnyLock(std::span<const std::string> paths);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_FILE_LOCK_H_
