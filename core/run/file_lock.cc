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

FileLock::FileLock(const std::string& path)
    : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  const auto fail = [&](int error) {
    if (fd_ >= 0) ::close(fd_);
    Throw<DataError>("cannot lock {}: {}", path, std::generic_category().message(error));
  };
  if (fd_ < 0) fail(errno);
  // polled, because a blocking wait could not be interrupted
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail(errno);
    if (InterruptRequested()) {
      ::close(fd_);
      throw Interrupted();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

FileLock::~FileLock() { ::close(fd_); }

}  // namespace lfiw::core
