#include "experiments/presentation/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/run/spawn_attributes.h"

namespace lfiw::experiments {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void ThrowSystemError(const std::string& program, std::string_view what) {
  Throw<ProgramError>("{}: {}: {}", program, what, std::strerror(errno));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// A file in memory, positioned at its start. Unlike a pipe it needs no one at the other end, so a
// program that neither reads nor writes cannot block this one.
FileDescriptor MemoryFile(const std::string& program, std::string_view content) {
  FileDescriptor file(memfd_create("lfiw", MFD_CLOEXEC));
  if (file.get() < 0) ThrowSystemError(program, "cannot make a file in memory");
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowSystemError(program, "cannot write its input");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

// A started program; killed and reaped when it goes out of scope before it ended.
class Child {
 public:
  Child(const std::vector<std::string>& command, ProgramEnvironment seen, int input, int output,
        int errors) {
    std::vector<char*> arguments;
    for (const std::string& argument : command)
      arguments.push_back(const_cast<char*>(argument.c_str()));  // exec's old signature
    arguments.push_back(nullptr);
    const char* path = std::getenv("PATH");
    std::string path_entry = std::string("PATH=") + (path ? path : "/usr/bin:/bin");
    std::string locale_entry = "LC_ALL=C";
    std::array<char*, 3> environment = {path_entry.data(), locale_entry.data(), nullptr};

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    const SpawnAttributes attributes;
    const int code =
        posix_spawnp(&pid_, arguments.front(), &actions, attributes.get(), arguments.data(),
                     seen == ProgramEnvironment::kWhole ? environ : environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (code == ENOENT) Throw<ProgramError>("{} was not found in PATH", command.front());
    if (code != 0)
      Throw<ProgramError>("{} cannot be started: {}", command.front(), std::strerror(code));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    Wait();
  }

  int Wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
};

// Reads until the other end closes.
std::string ReadAll(int fd, const std::string& program, double time_limit_s) {
  const Clock::time_point deadline =
      Clock::now() +
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit_s));
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waited = {.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = left > 0 ? poll(&waited, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) Throw<ProgramError>("{} did not end within {} s", program, time_limit_s);
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) ThrowSystemError(program, "cannot read its output");
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// The last line of a memory file that is not blank.
std::string LastLine(int fd) {
  std::string text(4096, '\0');
  const off_t size = lseek(fd, 0, SEEK_END);
  const off_t start = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
  const ssize_t count = pread(fd, text.data(), text.size(), start);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "it gave no reason";
  const std::size_t line = text.find_last_of('\n', end);
  const std::size_t begin = text.find_first_not_of(" \t", line == std::string::npos ? 0 : line + 1);
  return text.substr(begin, end + 1 - begin);
}

}  // namespace

std::string RunProgram(const std::vector<std::string>& command, const std::string& input,
                       double time_limit_s, ProgramEnvironment environment) {
  const std::string& program = command.at(0);
  const FileDescriptor input_file = MemoryFile(program, input);
  const FileDescriptor error_file = MemoryFile(program, "");
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) ThrowSystemError(program, "cannot open a pipe");
  const FileDescriptor output(ends[0]);
  FileDescriptor writer(ends[1]);

  Child child(command, environment, input_file.get(), writer.get(), error_file.get());
  writer.Close();  // the child's end alone keeps the pipe open
  std::string text = ReadAll(output.get(), program, time_limit_s);
  const int status = child.Wait();
  if (WIFSIGNALED(status))
    Throw<ProgramError>("{} was ended by signal {}", program, WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    Throw<ProgramError>("{} failed with status {}: {}", program, WEXITSTATUS(status),
                        LastLine(error_file.get()));
  return text;
}

}  // namespace lfiw::experiments
