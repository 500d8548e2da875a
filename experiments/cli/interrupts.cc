#include "experiments/cli/interrupts.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>

#include "core/run/progress.h"

namespace lfiw::experiments {
namespace {

constexpr std::uint64_t BitOf(int signal_number) { return std::uint64_t{1} << (signal_number - 1); }

std::atomic<int>& ReceivedSignal() {
  static std::atomic<int> received = SIGINT;
  return received;
}

void OnInterrupt(int signal_number) {
  ReceivedSignal() = signal_number;
  core::InterruptRequested() = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

// Runs before the initializers of all libraries, those of sanitizers too: it may use nothing but
// the kernel. What it holds stays held over execv.
__attribute__((no_sanitize("address", "thread", "undefined"))) void HoldInterrupts(
    int /*argc*/, char** /*argv*/, char** /*environment*/) {
  static constexpr std::uint64_t kHeld = BitOf(SIGINT) | BitOf(SIGTERM);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kHeld, nullptr, sizeof kHeld);
}

__attribute__((section(".preinit_array"), used)) void (*const kHoldFirst)(int, char**,
                                                                          char**) = HoldInterrupts;

}  // namespace

void TakeInterrupts() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGINT);
  sigaddset(&taken, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &taken, nullptr);
}

int InterruptedStatus() { return 128 + ReceivedSignal(); }

}  // namespace lfiw::experiments
