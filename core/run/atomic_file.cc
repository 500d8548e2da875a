#include "core/run/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/error.h"
#include "core/run/host_name.h"

namespace lfiw::core {
namespace {

std::string SystemReason(int error) { return std::generic_category().message(error); }

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string ParentOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

void WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Throw<DataError>("cannot write {}: {}", path, SystemReason(errno));
    if (written == 0) Throw<DataError>("cannot write {}: the disk took no more bytes", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Opens a file beside `path` that did not exist before.
std::string CreateTemporary(const std::string& path) {
  static std::atomic<unsigned> counter = 0;
  const std::filesystem::path target(path);
  while (true) {
    const std::string name =
        fmt::format("{}/.{}@{}.{}.{}.tmp", ParentOf(path), target.filename().string(), HostName(),
                    ::getpid(), counter++);
    const Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() >= 0) return name;
    if (errno != EEXIST) Throw<DataError>("cannot write {}: {}", path, SystemReason(errno));
  }
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    Throw<DataError>("cannot write {}: it is a {}, expected a file name", path_,
                     S_ISDIR(status.st_mode) ? "directory" : "special file");
  }
  temporary_ = CreateTemporary(path_);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::Commit() {
  LFIW_ASSERT(!committed_);
  SyncToDisk(temporary_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    Throw<DataError>("cannot write {}: {}", path_, SystemReason(errno));
  }
  committed_ = true;
  SyncToDisk(ParentOf(path_));
}

void WriteFileAtomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  {
    const Descriptor out(::open(file.temporary().c_str(), O_WRONLY | O_CLOEXEC));
    if (out.get() < 0) Throw<DataError>("cannot write {}: {}", path, SystemReason(errno));
    WriteAll(out.get(), bytes, path);
  }
  file.Commit();
}

std::string ReadFile(const std::string& path, std::int64_t max_bytes) {
  const Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (in.get() < 0 || ::fstat(in.get(), &status) != 0) {
    Throw<DataError>("cannot read {}: {}", path, SystemReason(errno));
  }
  const auto check_size = [&](std::int64_t size) {
    if (size > max_bytes) {
      Throw<DataError>("{}: more than {} bytes, the limit for this kind of file", path, max_bytes);
    }
  };
  // the size is a hint only: devices and growing files report less than they yield
  check_size(status.st_size);
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (true) {
    if (size == bytes.size()) bytes.resize(size + std::max<std::size_t>(4096, size / 2));
    const ssize_t count = ::read(in.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Throw<DataError>("cannot read {}: {}", path, SystemReason(errno));
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
    check_size(static_cast<std::int64_t>(size));
  }
  bytes.resize(size);
  return bytes;
}

void CreateDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) Throw<DataError>("cannot create the directory {}: {}", path, error.message());
}

void SyncToDisk(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) {
    // some file systems cannot flush a directory; the rename itself is still atomic there
    if (errno == EINVAL) return;
    Throw<DataError>("cannot flush {} to disk: {}", path, SystemReason(errno));
  }
}

}  // namespace lfiw::core
