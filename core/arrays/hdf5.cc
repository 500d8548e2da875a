#include "core/arrays/hdf5.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include "core/arrays/hdf5_server.h"
#include "core/arrays/npy_header.h"
#include "core/error.h"

namespace lfiw::core {
namespace {

// A listing or an error larger than this is none.
constexpr std::uint64_t kMaxMessageBytes = 1 << 24;
constexpr std::size_t kMaxMessages = 4'000'000;
constexpr std::size_t kMaxFieldRank = 32;

// Sanitizers reserve address space that the limit would forbid.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Bytes of address space in use by this process.
std::int64_t AddressSpaceBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0;
  statm >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

void LimitMemory(std::int64_t more_bytes) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (kSanitized) return;
  const auto bytes = static_cast<rlim_t>(AddressSpaceBytes() + more_bytes);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
}

// What the library prints when it breaks is of no use to anyone.
void Silence() {
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
}

[[noreturn]] void RunChild(const std::string& path, int socket, const Hdf5Limits& limits) {
  // other descriptors would keep files and the sockets of other children open
  close_range(3, static_cast<unsigned>(socket) - 1, 0);
  close_range(static_cast<unsigned>(socket) + 1, ~0U, 0);
  Silence();
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGXCPU}) {
    signal(signal_number, SIG_DFL);
  }
  LimitMemory(limits.memory_bytes);
  ServeHdf5(path, socket, limits.seconds);
  _exit(0);
}

// The child process and the socket to it. A child that fails to answer is ended.
class Child {
 public:
  Child(const std::string& path, const Hdf5Limits& limits) : path_(path), limits_(limits) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
      Throw<DataError>("{}: cannot start reading: {}", path, std::strerror(errno));
    }
    pid_ = fork();
    if (pid_ == 0) RunChild(path, sockets[1], limits);
    socket_ = sockets[0];
    close(sockets[1]);
    if (pid_ < 0) {
      close(socket_);
      Throw<DataError>("{}: cannot start reading: {}", path, std::strerror(errno));
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    close(socket_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  void Ask(const Hdf5Request& request) {
    const auto size = static_cast<ssize_t>(sizeof request);
    if (send(socket_, &request, sizeof request, MSG_NOSIGNAL) != size) FailOnEnd();
  }

  // The next message's header; a failure that the child reports is thrown, naming `where`.
  Hdf5Header Next(std::string_view where) {
    Hdf5Header header;
    Receive(std::as_writable_bytes(std::span(&header, 1)));
    if (header.tag != static_cast<std::uint32_t>(Hdf5Tag::kFailure)) return header;
    Throw<DataError>("{}: {}", where, Text(header));
  }

  std::string Text(const Hdf5Header& header) {
    if (header.size > kMaxMessageBytes) Throw<DataError>("{}: damaged HDF5 file", path_);
    std::string text(header.size, '\0');
    Receive(std::as_writable_bytes(std::span(text)));
    return text;
  }

  void Receive(std::span<std::byte> out) {
    while (!out.empty()) {
      Wait();
      const ssize_t got = recv(socket_, out.data(), out.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) FailOnEnd();
      out = out.subspan(static_cast<std::size_t>(got));
    }
  }

 private:
  void Wait() {
    pollfd poll_socket{socket_, POLLIN, 0};
    const int ready = poll(&poll_socket, 1, limits_.wait_seconds * 1000);
    if (ready == 0) {
      Throw<DataError>(
          "{}: reading stopped after {} s without an answer; the HDF5 file is damaged "
          "or its disk does not respond",
          path_, limits_.wait_seconds);
    }
  }

  // The child has ended although an answer was due.
  [[noreturn]] void FailOnEnd() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
      Throw<DataError>(
          "{}: reading took more than {} s of CPU time in one step; the HDF5 file is "
          "damaged or its chunks are too large",
          path_, limits_.seconds);
    }
    Throw<DataError>("{}: the HDF5 library failed on it ({}); the file is damaged", path_,
                     WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended early");
  }

  std::string path_;
  Hdf5Limits limits_;
  pid_t pid_ = -1;
  int socket_ = -1;
};

std::vector<std::string_view> SplitFields(std::string_view text, char separator,
                                          std::size_t at_most) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < at_most) {
    const std::size_t end = text.find(separator);
    if (end == std::string_view::npos) break;
    fields.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  fields.push_back(text);
  return fields;
}

std::vector<std::int64_t> ParseShape(std::string_view text, const std::string& path) {
  std::vector<std::int64_t> shape;
  if (text.empty()) return shape;
  for (const std::string_view field : SplitFields(text, ' ', kMaxFieldRank + 1)) {
    std::int64_t size = -1;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), size);
    if (error != std::errc() || size < 0 || end != field.data() + field.size()) {
      Throw<DataError>("{}: damaged HDF5 file: a dataset of size '{}'", path, field);
    }
    shape.push_back(size);
  }
  return shape;
}

class Hdf5Store final : public ArrayStore {
 public:
  Hdf5Store(const std::string& path, const Hdf5Limits& limits) : path_(path), child_(path, limits) {
    for (;;) {
      const Hdf5Header header = child_.Next(path_);
      if (header.tag == static_cast<std::uint32_t>(Hdf5Tag::kEnd)) break;
      if (++messages_ > kMaxMessages)
        Throw<DataError>("{}: more than {} objects", path, kMaxMessages);
      const std::string text = child_.Text(header);
      if (header.tag == static_cast<std::uint32_t>(Hdf5Tag::kArray)) {
        AddArray(text);
      } else {
        const auto fields = SplitFields(text, '\n', 2);
        if (fields.size() == 2) attributes_.emplace(fields[0], fields[1]);
      }
    }
  }

  const std::string& path() const override { return path_; }
  const char* kind() const override { return "HDF5"; }
  const std::map<std::string, ArrayInfo>& arrays() const override { return arrays_; }
  const std::map<std::string, std::string>& attributes() const override { return attributes_; }

  NpzArray ReadRows(const std::string& name, std::int64_t first, std::int64_t count) override {
    const ArrayInfo& info = Info(name);
    LFIW_ASSERT(first >= 0 && count >= 0 && first + count <= info.rows());
    NpzArray out{info.type, info.shape, {}};
    if (!out.shape.empty()) out.shape[0] = count;
    const std::string where = fmt::format("{}: array '{}'", path_, name);
    const std::int64_t bytes = NpyByteCount({info.type, out.shape, false}, where);
    if (bytes == 0 && info.type != "S0") return out;

    child_.Ask({indices_.at(name), first, count});
    const Hdf5Header header = child_.Next(where);
    if (info.type == "S0") return WithText(std::move(out), child_.Text(header));
    if (header.size != static_cast<std::uint64_t>(bytes)) {
      Throw<DataError>("{}: {} bytes arrived, expected {}", where, header.size, bytes);
    }
    out.bytes.resize(header.size);
    child_.Receive(out.bytes);
    return out;
  }

 private:
  void AddArray(const std::string& text) {
    const auto fields = SplitFields(text, '\n', 4);
    if (fields.size() != 4) Throw<DataError>("{}: damaged HDF5 file", path_);
    const std::string name(fields[3]);
    arrays_.insert_or_assign(name, ArrayInfo{std::string(fields[0]), ParseShape(fields[2], path_),
                                             std::string(fields[1])});
    indices_.insert_or_assign(name, static_cast<std::int64_t>(indices_.size()));
  }

  // Text of variable length arrives padded to the longest.
  static NpzArray WithText(NpzArray array, const std::string& text) {
    std::size_t count = 1;
    for (const std::int64_t size : array.shape) count *= static_cast<std::size_t>(size);
    array.type = fmt::format("S{}", count == 0 ? 0 : text.size() / count);
    const auto bytes = std::as_bytes(std::span(text));
    array.bytes.assign(bytes.begin(), bytes.end());
    return array;
  }

  std::string path_;
  Child child_;
  std::size_t messages_ = 0;
  std::map<std::string, ArrayInfo> arrays_;
  std::map<std::string, std::int64_t> indices_;
  std::map<std::string, std::string> attributes_;
};

}  // namespace

std::unique_ptr<ArrayStore> OpenHdf5(const std::string& path, const Hdf5Limits& limits) {
  if (std::ifstream file(path, std::ios::binary); !file) {
    Throw<DataError>("cannot read {}: {}", path, std::strerror(errno));
  }
  return std::make_unique<Hdf5Store>(path, limits);
}

NpzFile ReadHdf5Group(const std::string& path, const std::string& group, std::int64_t max_bytes) {
  const std::unique_ptr<ArrayStore> store = OpenHdf5(path);
  const std::string prefix = group.empty() || group.ends_with('/') ? group : group + "/";
  NpzFile file;
  std::int64_t left = max_bytes;
  for (const auto& [name, info] : store->arrays()) {
    if (!name.starts_with(prefix) || !info.unreadable.empty()) continue;
    NpzArray array = store->ReadAll(name, left);
    left -= static_cast<std::int64_t>(array.bytes.size());
    // a fixed-length text ends at its first zero byte
    file.Put(name.substr(prefix.size()), std::move(array));
  }
  if (file.arrays().empty()) {
    Throw<DataError>("{}: no dataset below '{}'", path, group.empty() ? "/" : group);
  }
  return file;
}

}  // namespace lfiw::core
