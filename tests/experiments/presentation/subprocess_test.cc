#include "experiments/presentation/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(RunProgram, PassesInputAndReturnsOutputOfAnySize) {
  // more than a pipe holds, both ways
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(RunProgram({"cat"}, text, 20.0), text);
  EXPECT_EQ(RunProgram({"cat"}, "", 20.0), "");
}

TEST(RunProgram, ArgumentsAreNotReadByAShell) {
  EXPECT_EQ(RunProgram({"echo", "$HOME; `id` 'x' \"y\" *"}, "", 20.0), "$HOME; `id` 'x' \"y\" *\n");
}

TEST(RunProgram, EnvironmentIsFixed) {
  EXPECT_EQ(RunProgram({"sh", "-c", "echo \"$LC_ALL ${HOME-none}\""}, "", 20.0), "C none\n");
}

TEST(RunProgram, AProgramThatIgnoresItsInputIsNoError) {
  EXPECT_EQ(RunProgram({"echo", "done"}, std::string(1'000'000, 'x'), 20.0), "done\n");
}

TEST(RunProgram, MissingProgramIsNamed) {
  EXPECT_THAT([] { RunProgram({"lfiw-no-such-program"}, "", 20.0); },
              ThrowsMessage<ProgramError>("lfiw-no-such-program was not found in PATH"));
}

TEST(RunProgram, FailureTellsStatusAndLastLineOfTheErrors) {
  EXPECT_THAT(
      [] {
        RunProgram({"sh", "-c", "echo first >&2; echo '  why' >&2; exit 3"}, "", 20.0);
      },
      ThrowsMessage<ProgramError>("sh failed with status 3: why"));
  EXPECT_THAT([] { RunProgram({"false"}, "", 20.0); },
              ThrowsMessage<ProgramError>(HasSubstr("status 1: it gave no reason")));
}

TEST(RunProgram, SignalsThatAreHeldHereAreNotHeldThere) {
  sigset_t interrupts, before;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  EXPECT_EQ(RunProgram({"grep", "SigBlk", "/proc/self/status"}, "", 20.0),
            "SigBlk:\t0000000000000000\n");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(RunProgram, AProgramThatDoesNotEndIsKilled) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(
      [] {
        RunProgram({"sleep", "60"}, "", 0.05);
      },
      ThrowsMessage<ProgramError>("sleep did not end within 0.05 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace lfiw::experiments
