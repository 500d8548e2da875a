#include "experiments/cli/interrupts.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <thread>

#include "core/run/progress.h"

namespace lfiw::experiments {
namespace {

constexpr std::uint64_t BitOf(int signal_number) { return std::uint64_t{1} << (signal_number - 1); }

std::atomic<int>& ReceivedSignal() {
  static std::atomic<int> received = SIGINT;
  return received;
}

sigset_t BothSignals() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  return both;
}

// The work of the one thread that takes the signals.
void WaitForSignals() {
  const sigset_t both = BothSignals();
  int signal_number = 0;
  sigwait(&both, &signal_number);
  ReceivedSignal() = signal_number;
  core::InterruptRequested() = true;
  sigwait(&both, &signal_number);
  // as without anyone who waits for it
  std::signal(signal_number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
  std::raise(signal_number);
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
  const sigset_t both = BothSignals();
  pthread_sigmask(SIG_BLOCK, &both, nullptr);
  std::thread(WaitForSignals).detach();
}

int InterruptedStatus() { return 128 + ReceivedSignal(); }

}  // namespace lfiw::experiments
