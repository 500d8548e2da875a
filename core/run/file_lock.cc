#include "core/run/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "core/run/progress.h"

namespace lfiw::core {

namespace {

[[noreturn]] void Fail(const std::string& path, int fd, int error) {
  if (fd >= 0) ::close(fd);
  Throw<DataError>("cannot lock {}: {}", path, std::generic_category().message(error));
}

int Open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) Fail(path, fd, errno);
  return fd;
}

// Returns whether the lock is held now.
bool TakeNow(const std::string& path, int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) Fail(path, fd, errno);
  }
  return true;
}

}  // namespace

FileLock::FileLock(const std::string& path) : fd_(Open(path)) {
  // polled, because a blocking wait could not be interrupted
  while (!TakeNow(path, fd_)) {
    if (InterruptRequested()) {
      ::close(fd_);
      throw Interrupted();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::unique_ptr<FileLock> FileLock::Try(const std::string& path) {
  const int fd = Open(path);
  if (TakeNow(path, fd)) return std::unique_ptr<FileLock>(new FileLock(fd));
  ::close(fd);
  return nullptr;
}

FileLock::~FileLock() { ::close(fd_); }

}  // namespace lfiw::core
