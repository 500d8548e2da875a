#ifndef LFIW_POLICIES_PROGRAMS_CHILD_PROCESS_H_
#define LFIW_POLICIES_PROGRAMS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/layers.h"

namespace lfiw::policies {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  int get() const { return fd_; }
  void Close();

 private:
  int fd_ = -1;
};

// A command that runs beside this program and answers over pipes: requests go to its standard
// input, answers come from its standard output, and the end of its standard error is kept for
// messages. What goes wrong throws PolicyError in one line that names the command, what happened,
// what was asked and the last words of its standard error; the command is useless then. An
// interrupt of the user throws Interrupted while the command lets wait. For one thread at a time.
class ChildProcess {
 public:
  // Runs `command` with /bin/sh, in a process group of its own: Ctrl-C on the terminal does not
  // reach it. `name` stands for it in messages.
  ChildProcess(const std::string& command, std::string name);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Closes its standard input, lets it end within two seconds, then kills its group.
  ~ChildProcess();

  // What follows is done within `seconds`. `occasion` says in messages what was asked: "when asked
  // for 64 actions".
  void Begin(std::string occasion, double seconds);

  // Writes all bytes. Nothing may come from standard output before.
  void Send(std::string_view bytes);
  // Fills `bytes` from standard output.
  void Receive(std::span<char> bytes);
  // The next line of standard output without its end; what is there of a line that is longer than
  // `longest` bytes.
  std::string ReceiveLine(std::size_t longest);
  // What can be read from standard output at once, at most `longest` bytes.
  std::string ReceiveWaiting(std::size_t longest);

  // Tells the command that there are no more requests.
  void CloseInput() { stdin_.Close(); }

  // Throws the PolicyError of what was found wrong: "answered with ...". Kills the command.
  [[noreturn]] void Fail(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;
  // What can be done without waiting.
  struct Ready {
    bool write = false;
    bool read = false;
  };

  Ready Wait(bool to_write);
  void KeepErrors();
  [[noreturn]] void FailAtEnd();
  // Whether the command ended within `seconds`; its status is kept.
  bool EndsWithin(double seconds);
  void Kill();

  std::string name_;
  std::string occasion_;
  double seconds_ = 0.0;
  Clock::time_point deadline_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  Descriptor stdin_, stdout_, stderr_;
  std::string errors_;  // the end of standard error
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PROGRAMS_CHILD_PROCESS_H_
