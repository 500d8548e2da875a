#include "policies/programs/program_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "policies/collect.h"
#include "tests/core/test_dir.h"
#include "tests/policies/fake_env.h"
#include "tests/policies/fake_policy.h"
#include "tests/policies/programs/python_program.h"
#include "tests/test_paths.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kHalfLogTau = 0.5 * 1.8378770664093453;  // log(2 pi) / 2

class ProgramPolicyTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasPython()) GTEST_SKIP() << "there is no python3 to run the policy's program";
    command_ = WritePythonProgram(dir_ / "policy.py");
  }

  // What is said when asked for the actions at x = 200, where the program misbehaves.
  std::string ErrorOf(const std::string& mode) const {
    try {
      const ProgramPolicy policy(command_ + " " + mode);
      Sample(policy, MatrixF{{200.0f, 1.0f, 0.0f}}, MatrixF(MatrixF::Zero(1, 2)));
    } catch (const PolicyError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("exec:python3"), Not(HasSubstr("\n"))));
      return error.what();
    }
    return "no error";
  }

  static MatrixF Sample(const Policy& policy, const MatrixF& observations, const MatrixF& noise) {
    MatrixF actions(observations.rows(), policy.action_dim());
    const std::vector<std::int64_t> steps(static_cast<std::size_t>(observations.rows()), 5);
    policy.Sample(observations, steps, noise, actions);
    return actions;
  }

  TestDir dir_;
  std::string command_;
};

TEST_F(ProgramPolicyTest, ActsAsTheProgramSaysWithTheNoiseThatItIsSent) {
  const ProgramPolicy policy(command_);
  EXPECT_EQ(policy.obs_dim(), 3);
  EXPECT_EQ(policy.action_dim(), 2);
  EXPECT_EQ(policy.noise_dim(), 2);
  EXPECT_EQ(policy.discrete_actions(), 0);
  EXPECT_EQ(policy.Description(), "stochastic program 3-...-2, " + command_);
  const MatrixF observations{{1.0f, 3.0f, 0.0f}, {0.0f, -1.0f, 0.0f}};
  const MatrixF drawn = Sample(policy, observations, MatrixF{{0.5f, 1.0f}, {-1.0f, 2.0f}});
  EXPECT_EQ(drawn, (MatrixF{{4.5f, 0.5f}, {-3.0f, 1.0f}}));
  MatrixF mean(2, 2);
  policy.Mean(observations, std::vector<std::int64_t>{0, 1}, mean);
  EXPECT_EQ(mean, (MatrixF{{4.0f, 0.0f}, {-2.0f, 0.0f}}));
}

TEST_F(ProgramPolicyTest, ManyRowsAreAskedForInPieces) {
  const ProgramPolicy policy(command_);
  const Eigen::Index rows = 10'000;
  MatrixF observations(rows, 3), noise = MatrixF::Zero(rows, 2);
  for (Eigen::Index i = 0; i < rows; ++i) {
    observations.row(i) << 0.0f, 0.001f * static_cast<float>(i), 0.0f;
  }
  const MatrixF drawn = Sample(policy, observations, noise);
  EXPECT_TRUE(drawn.col(0).isApprox(2.0f * observations.col(1), 1e-6f));
}

TEST_F(ProgramPolicyTest, LogDensitiesAreTheProgramsToo) {
  const ProgramPolicy policy(command_);
  ASSERT_TRUE(policy.has_density());
  std::vector<double> density(1);
  policy.LogDensity(MatrixF{{1.0f, 1.5f, 0.0f}}, std::vector<std::int64_t>{0},
                    MatrixF{{2.0f, 0.25f}}, VectorD{{-9.0, -9.0}}, VectorD{{9.0, 9.0}}, density);
  EXPECT_NEAR(density[0], -0.5 - 0.125 - 2.0 * kHalfLogTau + std::numbers::ln2, 1e-12);

  const ProgramPolicy without(command_ + " nodensity");
  EXPECT_FALSE(without.has_density());
  EXPECT_THAT(without.DensityRefusal(), HasSubstr("density=0"));
}

TEST_F(ProgramPolicyTest, DiscreteActionsAreIndicesOutsideAndOneHotHere) {
  const ProgramPolicy policy(command_ + " discrete");
  EXPECT_EQ(policy.discrete_actions(), 2);
  const MatrixF observations{{1.0f, 3.0f, 0.0f}, {0.0f, -1.0f, 0.0f}};
  EXPECT_EQ(Sample(policy, observations, MatrixF(MatrixF::Zero(2, 2))),
            (MatrixF{{0.0f, 1.0f}, {1.0f, 0.0f}}));
  std::vector<double> density(2);
  const std::vector<std::int64_t> steps{0, 1};
  policy.LogDensity(observations, steps, MatrixF{{0.0f, 1.0f}, {1.0f, 0.0f}}, VectorD(2),
                    VectorD(2), density);
  EXPECT_NEAR(density[0], std::log(0.75), 1e-12);
  EXPECT_NEAR(density[1], std::log(0.25), 1e-12);
  EXPECT_THROW(policy.LogDensity(observations, steps, MatrixF{{0.5f, 0.5f}, {1.0f, 0.0f}},
                                 VectorD(2), VectorD(2), density),
               PolicyError);
  EXPECT_THAT(ErrorOf("discrete outside"),
              AllOf(HasSubstr("action 2 of 2"), HasSubstr("observation (200, 1, 0) of step 5")));
}

TEST_F(ProgramPolicyTest, AnswersInFortranOrderAreUnderstood) {
  const ProgramPolicy policy(command_ + " fortran");
  const MatrixF observations{{1.0f, 3.0f, 0.0f}, {0.0f, -1.0f, 0.0f}};
  EXPECT_EQ(Sample(policy, observations, MatrixF{{0.5f, 1.0f}, {-1.0f, 2.0f}}),
            (MatrixF{{4.5f, 0.5f}, {-3.0f, 1.0f}}));
}

TEST_F(ProgramPolicyTest, WhateverGoesWrongIsOneLineThatSaysIt) {
  EXPECT_THAT(ErrorOf("die"),
              AllOf(HasSubstr("ended with exit status 1 when asked for actions (1 of them)"),
                    HasSubstr("CUDA out of memory")));
  EXPECT_THAT(ErrorOf("slow"), HasSubstr("did not answer within 0.5 s"));
  EXPECT_THAT(ErrorOf("print"), AllOf(HasSubstr("answered with 'Epoch 1"),
                                      HasSubstr("messages go to standard error")));
  EXPECT_THAT(ErrorOf("shape"), HasSubstr("an array of shape [1] and type f4, expected [1, 2]"));
  EXPECT_THAT(ErrorOf("bytes"), HasSubstr("type u1, expected [1, 2] of f4 or f8"));
  EXPECT_THAT(ErrorOf("nan"), AllOf(HasSubstr("the policy gives NaN at the observation"),
                                    HasSubstr("(200, 1, 0) of step 5")));
}

TEST_F(ProgramPolicyTest, EpisodesAreTheSameBytesForAnyNumberOfThreads) {
  const PointFactory env;
  const EpisodeRequest request{
      .episodes = 40, .horizon = 15, .seed = 3, .purpose = "test", .progress = nullptr};
  const auto collect = [&](int threads, const Policy& policy) {
    SetThreads(threads);
    EpisodeBatch batch = CollectEpisodes(env, policy, request);
    SetThreads(0);
    return batch;
  };
  const EpisodeBatch one = collect(1, ProgramPolicy(command_));
  const EpisodeBatch four = collect(4, ProgramPolicy(command_));
  EXPECT_EQ(one.actions, four.actions);
  EXPECT_EQ(one.rewards, four.rewards);
  EXPECT_EQ(one.behavior_log_density, four.behavior_log_density);
  // the same policy in C++
  EXPECT_TRUE(one.actions.isApprox(collect(1, ProportionalPolicy()).actions, 1e-4f));
}

TEST_F(ProgramPolicyTest, TheHelperServesACallable) {
  if (!HasNumpy()) GTEST_SKIP() << "python3 has no numpy, which serve_policy.py needs";
  const std::string path = dir_ / "served.py";
  WriteFileAtomically(path, R"(
import numpy as np
from serve_policy import normal_log_density, serve
print("hello from the policy")
STD = np.array([1.0, 0.5], np.float32)
def mean(observations, steps):
    return np.stack([2 * (observations[:, 1] - observations[:, 0]), 0 * observations[:, 0]], 1)
serve(lambda o, noise, steps: mean(o, steps) + STD * noise, 3, 2, 2, mean=mean,
      log_density=lambda o, a, low, high, steps: normal_log_density(a, mean(o, steps), STD, low, high))
)");
  const ProgramPolicy policy("PYTHONPATH=" + SourceFile("policies/export") + " python3 " + path);
  const MatrixF observations{{1.0f, 3.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
  EXPECT_EQ(Sample(policy, observations, MatrixF{{0.5f, 1.0f}, {-1.0f, 2.0f}}),
            (MatrixF{{4.5f, 0.5f}, {-1.0f, 1.0f}}));
  // inside the bounds, and with the first action at the upper bound, 1 above its mean
  std::vector<double> density(2);
  policy.LogDensity(observations, std::vector<std::int64_t>{0, 0},
                    MatrixF{{0.5f, 0.5f}, {1.0f, 0.0f}}, VectorD{{-1.0, -1.0}}, VectorD{{1.0, 1.0}},
                    density);
  EXPECT_NEAR(density[0], -0.5 * 3.5 * 3.5 - 0.5 + std::numbers::ln2 - 2.0 * kHalfLogTau, 1e-6);
  EXPECT_NEAR(density[1], std::log(0.15865525393145707) + std::numbers::ln2 - kHalfLogTau, 1e-6);
}

TEST(ProgramNameTest, TheHashFollowsTheCommandAndTheFilesThatItNames) {
  const TestDir dir;
  const std::string script = dir / "policy.py", weights = dir / "a b.onnx";
  WriteFileAtomically(script, "1");
  WriteFileAtomically(weights, "1");
  const std::string path = "exec:python3 " + script + " --model='" + weights + "' --n 3";
  const std::string before = ProgramPolicyHash(path);
  EXPECT_EQ(before.size(), 64U);
  EXPECT_EQ(ProgramPolicyHash(path), before);
  EXPECT_NE(ProgramPolicyHash(path + "0"), before);
  WriteFileAtomically(weights, "2");
  const std::string other_weights = ProgramPolicyHash(path);
  EXPECT_NE(other_weights, before);
  WriteFileAtomically(script, "2");
  EXPECT_NE(ProgramPolicyHash(path), other_weights);
}

TEST(ProgramNameTest, InTablesAProgramIsCalledByItsFile) {
  const TestDir dir;
  WriteFileAtomically(dir / "my_policy.py", "1");
  EXPECT_TRUE(IsProgramPolicy("exec:python3 my_policy.py"));
  EXPECT_FALSE(IsProgramPolicy("policy.npz"));
  EXPECT_EQ(ProgramPolicyLabel("exec:python3 " + (dir / "my_policy.py") + " --fast"), "my_policy");
  EXPECT_EQ(ProgramPolicyLabel("exec:/usr/bin/nothing here --fast"), "nothing");
  EXPECT_EQ(ProgramPolicyLabel("exec:"), "program");
}

}  // namespace
}  // namespace lfiw::policies
