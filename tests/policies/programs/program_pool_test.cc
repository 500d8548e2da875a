#include "policies/programs/program_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/core/test_dir.h"
#include "tests/policies/programs/python_program.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ProgramPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasPython()) GTEST_SKIP() << "there is no python3 to run the policy's program";
    command_ = WritePythonProgram(dir_ / "policy.py");
  }

  std::unique_ptr<ProgramPool> Pool(const std::string& modes = "") const {
    return std::make_unique<ProgramPool>(command_ + " " + modes, "exec:policy.py " + modes, 60.0);
  }

  std::string StartError(const std::string& modes) const {
    try {
      Pool(modes);
    } catch (const PolicyError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("exec:policy.py"), Not(HasSubstr("\n"))));
      return error.what();
    }
    return "no error";
  }

  // The actions at observations (x, g, 0) with noise 0.
  static ProgramQuestion QuestionAt(float x, float goal) {
    ProgramQuestion question{
        ProgramRequest("sample"), "when asked by the test", AnswerType::kFloats, {1, 2}};
    question.request.AddRows(MatrixF{{x, goal, 0.0f}});
    const std::vector<std::int64_t> steps{0};
    question.request.AddIndices(steps);
    question.request.AddRows(MatrixF::Zero(1, 2));
    return question;
  }

  TestDir dir_;
  std::string command_;
};

TEST_F(ProgramPoolTest, AnAnswerHasWhatWasAskedFor) {
  const auto pool = Pool();
  EXPECT_EQ(pool->hello().obs_dim, 3);
  const NpzArray answer = pool->Ask(QuestionAt(1.0f, 3.0f));
  EXPECT_EQ(answer.type, "f4");
  const auto* values = reinterpret_cast<const float*>(answer.bytes.data());
  EXPECT_EQ(values[0], 4.0f);
  EXPECT_EQ(values[1], 0.0f);
  EXPECT_EQ(pool->started(), 1);
}

TEST_F(ProgramPoolTest, ThereAreNoMoreProgramsThanThreads) {
  const auto pool = Pool();
  SetThreads(3);
  ParallelFor(60, [&](std::int64_t i) { pool->Ask(QuestionAt(static_cast<float>(i), 0.0f)); });
  SetThreads(0);
  EXPECT_LE(pool->started(), 3);
}

TEST_F(ProgramPoolTest, AProgramThatDoesNotStartSaysWhy) {
  EXPECT_THAT(StartError("early"),
              AllOf(HasSubstr("ended with exit status 1 before its first line"),
                    HasSubstr("loading | no such checkpoint")));
  EXPECT_THAT(
      [] { ProgramPool("echo Hello; cat", "exec:x", 20.0); },
      testing::ThrowsMessage<PolicyError>(HasSubstr("the program wrote 'Hello' where a line")));
  EXPECT_THAT(
      [] { ProgramPool("sleep 60", "exec:x", 0.2); },
      testing::ThrowsMessage<PolicyError>(HasSubstr("did not answer within 0.2 s before its")));
}

TEST_F(ProgramPoolTest, WhatWouldDependOnOrderOrThreadsIsRefused) {
  EXPECT_THAT(StartError("random"), HasSubstr("draws random numbers"));
  EXPECT_THAT(StartError("state"), HasSubstr("keeps a state"));
  EXPECT_THAT(StartError("batch"), HasSubstr("depending on the batch"));
}

TEST_F(ProgramPoolTest, ACopyThatAnswersDifferentlyIsRefused) {
  const auto pool = Pool("restart");
  EXPECT_NO_THROW(pool->Ask(QuestionAt(1.0f, 3.0f)));
  std::string message;
  SetThreads(4);
  try {
    for (int i = 0; i < 50 && pool->started() == 1; ++i) {
      ParallelFor(100, [&](std::int64_t) { pool->Ask(QuestionAt(1.0f, 3.0f)); });
    }
  } catch (const PolicyError& error) {
    message = error.what();
  }
  SetThreads(0);
  if (pool->started() == 1) GTEST_SKIP() << "one thread did all the work";
  EXPECT_THAT(message, HasSubstr("answers differently when started anew"));
}

TEST_F(ProgramPoolTest, AfterAFailureEveryCallRepeatsItAtOnce) {
  const auto pool = Pool("slow");
  const auto message = [&](float x) {
    try {
      pool->Ask(QuestionAt(x, 0.0f));
    } catch (const PolicyError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string first = message(200.0f);
  EXPECT_THAT(first, HasSubstr("did not answer within 0.5 s when asked by the test"));
  EXPECT_EQ(message(1.0f), first);
  EXPECT_EQ(pool->started(), 1);
}

}  // namespace
}  // namespace lfiw::policies
