#include "policies/programs/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "core/error.h"
#include "core/run/progress.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

double SecondsOf(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What is said when a line of the command is waited for.
std::string ErrorOfLine(const std::string& command, double seconds = 20.0) {
  try {
    ChildProcess child(command, "exec:it");
    child.Begin("when asked for a line", seconds);
    child.ReceiveLine(100);
  } catch (const PolicyError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("exec:it: the program "), Not(HasSubstr("\n"))));
    return error.what();
  }
  return "no error";
}

TEST(ChildProcessTest, AnswersComeBackLineByLine) {
  ChildProcess child("read a; echo \"got $a\"; read b; echo \"and $b\"", "exec:it");
  child.Begin("when asked", 20.0);
  child.Send("one\n");
  EXPECT_EQ(child.ReceiveLine(100), "got one");
  child.Send("two\n");
  EXPECT_EQ(child.ReceiveLine(3), "and");
  EXPECT_EQ(child.ReceiveLine(100), " two");
}

TEST(ChildProcessTest, ARequestMayBeLargerThanAPipeHolds) {
  const std::string request(5'000'000, 'x');
  ChildProcess child("head -c 5000000 | wc -c", "exec:it");
  child.Begin("when asked", 20.0);
  child.Send(request);
  EXPECT_THAT(child.ReceiveLine(100), HasSubstr("5000000"));
}

TEST(ChildProcessTest, ADeathIsToldWithItsStatusAndItsLastWords) {
  EXPECT_THAT(ErrorOfLine("echo '  first' >&2; echo '   ^^^' >&2; echo oops >&2; echo >&2; exit 3"),
              AllOf(HasSubstr("ended with exit status 3 when asked for a line"),
                    HasSubstr("the last of its standard error: first | oops")));
  EXPECT_THAT(ErrorOfLine("kill -9 $$"), AllOf(HasSubstr("was killed by signal 9"),
                                               HasSubstr("wrote nothing to its standard error")));
  EXPECT_THAT(ErrorOfLine("exec lfiw_no_such_program"),
              AllOf(HasSubstr("exit status 127"), HasSubstr("lfiw_no_such_program")));
  EXPECT_THAT(ErrorOfLine("exec 1>&-; exec 2>&-; sleep 60"),
              HasSubstr("closed its standard output"));
}

TEST(ChildProcessTest, AProgramThatLetsWaitIsKilled) {
  const double seconds = SecondsOf([] {
    // long enough for a shell to start on a busy machine
    EXPECT_THAT(ErrorOfLine("echo waiting >&2; sleep 60; echo late", 3.0),
                AllOf(HasSubstr("did not answer within 3 s"), HasSubstr("waiting")));
  });
  EXPECT_LT(seconds, 40.0);
}

TEST(ChildProcessTest, MuchStandardErrorBlocksNobodyAndIsQuotedFromItsEnd) {
  ChildProcess child("yes 'a warning of a library' | head -c 3000000 >&2; echo ready; read a",
                     "exec:it");
  child.Begin("when asked", 20.0);
  EXPECT_EQ(child.ReceiveLine(100), "ready");
  try {
    child.Fail("did wrong");
  } catch (const PolicyError& error) {
    EXPECT_LT(std::string(error.what()).size(), 500U);
    EXPECT_THAT(error.what(), HasSubstr("a warning of a library | a warning"));
  }
}

TEST(ChildProcessTest, OutputThatNobodyAskedForIsToldAtTheNextRequest) {
  ChildProcess child("echo ready; echo hello; read a; read a; sleep 60", "exec:it");
  child.Begin("when asked", 20.0);
  EXPECT_EQ(child.ReceiveLine(100), "ready");
  try {
    // more than a pipe holds, so that the program has come to read, and has written before
    for (int i = 0; i < 4000; ++i) child.Send(std::string(1000, 'x'));
    FAIL() << "expected a PolicyError";
  } catch (const PolicyError& error) {
    EXPECT_THAT(error.what(), HasSubstr("wrote 'hello\\n' to its standard output"));
  }
}

TEST(ChildProcessTest, WritingToADeadProgramIsAnErrorAndNoSignal) {
  ChildProcess child("exec 0<&-; echo gone >&2; sleep 0.1; exit 4", "exec:it");
  child.Begin("when asked", 20.0);
  EXPECT_THAT([&] { child.Send(std::string(10'000'000, 'x')); },
              testing::ThrowsMessage<PolicyError>(HasSubstr("ended with exit status 4")));
}

TEST(ChildProcessTest, AProgramThatReadsToTheEndOfItsInputEndsAtOnce) {
  // one that does not is killed after two seconds; a busy machine may take long once
  double least = 10.0;
  for (int i = 0; i < 5 && least >= 1.5; ++i) {
    least = std::min(least, SecondsOf([] { ChildProcess("exec cat", "exec:it"); }));
  }
  EXPECT_LT(least, 1.5);
}

TEST(ChildProcessTest, AnInterruptOfTheUserEndsTheWaiting) {
  InterruptRequested() = true;
  EXPECT_THROW(ErrorOfLine("exec sleep 60"), Interrupted);
  InterruptRequested() = false;
}

}  // namespace
}  // namespace lfiw::policies
