#include "policies/programs/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/run/progress.h"
#include "core/run/spawn_attributes.h"

namespace lfiw::policies {
namespace {

using std::chrono::milliseconds;

// Kept of standard error, and quoted of it.
constexpr std::size_t kKeptErrors = 4096;
constexpr std::size_t kQuotedErrors = 300;
constexpr std::size_t kQuotedLines = 3;
// How long a command may take to end when its work is done.
constexpr double kSecondsToEnd = 2.0;
// How often an interrupt is looked for.
constexpr std::int64_t kInterruptMilliseconds = 200;
// Holds a batch of thousands of observations, where the system allows it.
constexpr int kPipeBytes = 1 << 20;

struct Pipe {
  Descriptor read, write;
};

Pipe MakePipe(const std::string& name) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    Throw<PolicyError>("{}: cannot make a pipe: {}", name, std::strerror(errno));
  }
  fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// This program's end of a pipe never blocks.
Descriptor OwnEnd(Descriptor end) {
  fcntl(end.get(), F_SETFL, O_NONBLOCK);
  return end;
}

// The start of a command: its pipes, signals and group.
class SpawnPlan {
 public:
  SpawnPlan(const Descriptor& in, const Descriptor& out, const Descriptor& errors) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, in.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files_, out.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, errors.get(), STDERR_FILENO);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() { posix_spawn_file_actions_destroy(&files_); }

  pid_t Start(const std::string& command, const std::string& name) const {
    // exec's old signature
    const std::array<char*, 4> arguments = {const_cast<char*>("/bin/sh"), const_cast<char*>("-c"),
                                            const_cast<char*>(command.c_str()), nullptr};
    pid_t pid = -1;
    const int code =
        posix_spawn(&pid, arguments[0], &files_, attributes_.get(), arguments.data(), environ);
    if (code != 0) Throw<PolicyError>("{}: cannot be started: {}", name, std::strerror(code));
    return pid;
  }

 private:
  posix_spawn_file_actions_t files_;
  SpawnAttributes attributes_{POSIX_SPAWN_SETPGROUP};
};

// While it lives, writing to a command that is gone fails instead of ending this program.
class HeldSigpipe {
 public:
  HeldSigpipe() {
    sigemptyset(&held_);
    sigaddset(&held_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  HeldSigpipe(const HeldSigpipe&) = delete;
  HeldSigpipe& operator=(const HeldSigpipe&) = delete;
  ~HeldSigpipe() {
    const timespec at_once{};
    while (sigtimedwait(&held_, nullptr, &at_once) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t held_, before_;
};

std::string StatusText(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with exit status {}", WEXITSTATUS(status));
}

// The last lines with words: no blank ones, and none that underline the one above.
std::string LastWords(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kQuotedLines) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) break;
    text = text.substr(0, end + 1);
    const std::size_t newline = text.find_last_of('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const std::string_view line = text.substr(begin);
    if (line.find_first_not_of(" \t^~-=") != std::string_view::npos) {
      lines.push_back(line.substr(line.find_first_not_of(" \t")));
    }
    text = text.substr(0, begin);
  }
  std::reverse(lines.begin(), lines.end());
  const std::string words = fmt::format("{}", fmt::join(lines, " | "));
  if (words.size() <= kQuotedErrors) return words;
  return fmt::format("...{}", std::string_view(words).substr(words.size() - kQuotedErrors));
}

}  // namespace

void Descriptor::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

ChildProcess::ChildProcess(const std::string& command, std::string name) : name_(std::move(name)) {
  Pipe in = MakePipe(name_), out = MakePipe(name_), errors = MakePipe(name_);
  pid_ = SpawnPlan(in.read, out.write, errors.write).Start(command, name_);
  stdin_ = OwnEnd(std::move(in.write));
  stdout_ = OwnEnd(std::move(out.read));
  stderr_ = OwnEnd(std::move(errors.read));
}

ChildProcess::~ChildProcess() {
  stdin_.Close();
  stdout_.Close();
  stderr_.Close();
  EndsWithin(kSecondsToEnd);
  Kill();
}

void ChildProcess::Begin(std::string occasion, double seconds) {
  occasion_ = std::move(occasion);
  seconds_ = seconds;
  deadline_ = Clock::now() +
              std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Waits until standard output can be read or, if asked for, standard input be written.
ChildProcess::Ready ChildProcess::Wait(bool to_write) {
  for (;;) {
    std::array<pollfd, 3> ends = {{{stdout_.get(), POLLIN, 0},
                                   {stderr_.get(), POLLIN, 0},
                                   {to_write ? stdin_.get() : -1, POLLOUT, 0}}};
    const std::int64_t left =
        std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()).count() + 1;
    const auto wait = std::clamp<std::int64_t>(left, 0, kInterruptMilliseconds);
    const int ready = poll(ends.data(), ends.size(), static_cast<int>(wait));
    if (ready > 0 && ends[1].revents != 0) KeepErrors();
    if (ready > 0 && (ends[0].revents != 0 || ends[2].revents != 0)) {
      return {.write = ends[2].revents != 0, .read = ends[0].revents != 0};
    }
    if (InterruptRequested()) throw Interrupted();
    if (left <= 0) Fail(fmt::format("did not answer within {} s", seconds_));
  }
}

void ChildProcess::KeepErrors() {
  std::array<char, kKeptErrors> buffer;
  while (stderr_.get() >= 0) {
    const ssize_t count = read(stderr_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    if (count == 0) stderr_.Close();
    errors_.append(buffer.data(), static_cast<std::size_t>(count));
    if (errors_.size() > kKeptErrors) errors_.erase(0, errors_.size() - kKeptErrors);
  }
}

void ChildProcess::Send(std::string_view bytes) {
  const HeldSigpipe held;
  while (!bytes.empty()) {
    const Ready ready = Wait(/*to_write=*/true);
    if (ready.read) {
      const std::string unasked = ReceiveWaiting(kQuotedErrors);
      if (unasked.empty()) FailAtEnd();
      Fail(
          fmt::format("wrote '{}' to its standard output, which belongs to its answers alone "
                      "(messages go to standard error)",
                      Quoted(unasked)));
    }
    const ssize_t count = write(stdin_.get(), bytes.data(), bytes.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) FailAtEnd();
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void ChildProcess::Receive(std::span<char> bytes) {
  while (!bytes.empty()) {
    Wait(/*to_write=*/false);
    const ssize_t count = read(stdout_.get(), bytes.data(), bytes.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) FailAtEnd();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::string ChildProcess::ReceiveLine(std::size_t longest) {
  std::string line;
  for (char next = 0; line.size() < longest; line += next) {
    Receive({&next, 1});
    if (next == '\n') break;
  }
  return line;
}

std::string ChildProcess::ReceiveWaiting(std::size_t longest) {
  std::string bytes(longest, '\0');
  const ssize_t count = read(stdout_.get(), bytes.data(), bytes.size());
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

bool ChildProcess::EndsWithin(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (milliseconds pause(1); !reaped_; pause = std::min(2 * pause, milliseconds(50))) {
    const pid_t ended = waitpid(pid_, &status_, WNOHANG);
    reaped_ = ended == pid_ || (ended < 0 && errno != EINTR);
    if (reaped_ || Clock::now() > end) break;
    std::this_thread::sleep_for(pause);
  }
  return reaped_;
}

void ChildProcess::Kill() {
  // the group may outlive the shell that led it
  kill(-pid_, SIGKILL);
  while (!reaped_) {
    reaped_ = waitpid(pid_, &status_, 0) == pid_ || errno != EINTR;
  }
}

void ChildProcess::FailAtEnd() {
  stdin_.Close();
  Fail(EndsWithin(kSecondsToEnd) ? StatusText(status_) : "closed its standard output");
}

void ChildProcess::Fail(const std::string& what) {
  KeepErrors();
  Kill();
  KeepErrors();
  const std::string words = LastWords(errors_);
  Throw<PolicyError>("{}: the program {} {}{}", name_, what, occasion_,
                     words.empty() ? "; it wrote nothing to its standard error"
                                   : "; the last of its standard error: " + words);
}

}  // namespace lfiw::policies
