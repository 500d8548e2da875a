#include "core/run/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sstream>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/host_name.h"
#include "core/run/progress.h"

namespace lfiw::core {

namespace {

using Seconds = std::chrono::duration<double>;

// A wait costs at most this share of itself in addition, and asks at most so often.
constexpr double kPollShare = 0.02;
constexpr Seconds kShortestPoll{0.02};
constexpr Seconds kLongestPoll{1.0};

[[noreturn]] void Fail(const std::string& path, int fd, int error) {
  if (fd >= 0) ::close(fd);
  const bool unsupported = error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK;
  Throw<DataError>(
      "cannot lock {}: {}{}", path, std::generic_category().message(error),
      unsupported ? "; this file system gives no locks (lfiw doctor --cache DIR)" : "");
}

int OpenLockFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) Fail(path, fd, errno);
  return fd;
}

// Returns whether the lock is held now.
bool TakeNow(const std::string& path, int fd, LockKind kind) {
  while (::flock(fd, (kind == LockKind::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) Fail(path, fd, errno);
  }
  return true;
}

// Sleeps between two questions for a lock. Throws Interrupted.
class Poll {
 public:
  void Sleep() {
    if (InterruptRequested()) throw Interrupted();
    const Seconds waited = std::chrono::steady_clock::now() - start_;
    std::this_thread::sleep_for(std::clamp(kPollShare * waited, kShortestPoll, kLongestPoll));
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

FileLock::FileLock(const std::string& path) : fd_(OpenLockFile(path)) {
  // polled, because a blocking wait could not be interrupted
  Poll poll;
  while (!TakeNow(path, fd_, LockKind::kExclusive)) {
    try {
      poll.Sleep();
    } catch (const Interrupted&) {
      ::close(fd_);
      throw;
    }
  }
}

std::unique_ptr<FileLock> FileLock::Try(const std::string& path, LockKind kind) {
  const int fd = OpenLockFile(path);
  if (TakeNow(path, fd, kind)) return std::unique_ptr<FileLock>(new FileLock(fd));
  ::close(fd);
  return nullptr;
}

FileLock::~FileLock() { ::close(fd_); }

void FileLock::NameHolder() const {
  const std::string text = fmt::format("{} {}\n", HostName(), ::getpid());
  if (::ftruncate(fd_, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(fd_, text.data(), text.size(), 0);
}

LockHolder HolderOf(const std::string& path) {
  LockHolder holder;
  try {
    std::istringstream text(ReadFile(path, 4096));
    if (!(text >> holder.host >> holder.process)) return {};
  } catch (const DataError&) {
    return {};
  }
  return holder;
}

void WaitForAnyLock(std::span<const std::string> paths) {
  LFIW_ASSERT(!paths.empty());
  Poll poll;
  while (std::ranges::none_of(paths,
                              [](const auto& path) { return FileLock::Try(path) != nullptr; })) {
    poll.Sleep();
  }
}

}  // namespace lfiw::core
