#include "experiments/bench/bench_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envs/env_registry.h"
#include "envs/tabular_systems.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;

class BenchProblemTest : public ::testing::Test {
 protected:
  std::vector<std::unique_ptr<BenchProblem>> Problems() {
    return MakeBenchProblems(config_, cache_, Verbosity::kQuiet);
  }

  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  BenchConfig config_;
};

TEST_F(BenchProblemTest, TheTruthOfATabularSystemIsThatOfDynamicProgramming) {
  config_.tabular = {"graph"};
  const auto problems = Problems();
  ASSERT_THAT(problems, SizeIs(1));
  const TabularProblem graph = FindTabularProblem("graph");
  const double truth = ExpectedValue(
      graph.system,
      FiniteHorizonValues(graph.system, graph.evaluation, graph.horizon, graph.discount));
  ASSERT_THAT(problems[0]->policies(), SizeIs(1));
  EXPECT_NEAR(problems[0]->policies()[0].truth, truth, 1e-12);
  EXPECT_TRUE(problems[0]->Contribution("is"));
  EXPECT_FALSE(problems[0]->Contribution("wis"));
}

TEST_F(BenchProblemTest, ALogHoldsWhatIsNeededAndTellsTheTimeOfIt) {
  config_.tabular = {"graph"};
  const FittedInputs in = Problems()[0]->Inputs(0, 20, 1, {"fqe"});
  EXPECT_EQ(in.arrays.episodes(), 20);
  EXPECT_THAT(in.arrays.values, Contains(Key("fqe")));
  EXPECT_THAT(in.arrays.weights, IsEmpty());
  EXPECT_THAT(in.times, Contains(Field(&FitTime::needs, (std::set<std::string>{"fqe"}))));
  // the model of the log, which fits share
  EXPECT_THAT(in.times, Contains(Field(&FitTime::needs, IsEmpty())));
}

TEST_F(BenchProblemTest, TheSameSeedAndSizeGiveTheSameLog) {
  config_.linear_gaussian = 1;
  const auto problems = Problems();
  const auto rewards = [&](std::uint64_t seed) {
    return problems[0]->Inputs(1, 30, seed, {"action"}).arrays.rewards;
  };
  EXPECT_EQ(rewards(1), rewards(1));
  EXPECT_NE(rewards(1), rewards(2));
  EXPECT_THAT(problems[0]->policies(), SizeIs(4));
}

TEST_F(BenchProblemTest, AnEnvironmentHasTheAnswerThatIsStatedWithItsVerdict) {
  const EnvSpec spec = FindEnv("Swimmer")->spec();
  const std::string policy = dir_ / "idle.npz";
  ConstantPolicy(0.0, 1.0, spec.obs_dim, spec.action_dim).Save(policy);
  BenchTask task;
  task.environment = "Swimmer";
  task.policies.pair = PolicyPair::kFiles;
  task.policies.behavior_file = policy;
  task.policies.evaluation_files = {policy};
  config_.tasks = {task};
  config_.value.horizon = 5;
  config_.truth.episodes = 20;
  config_.dynamics.members = 2;
  config_.dynamics.network.width = 8;
  config_.dynamics.fit.steps = 20;
  config_.classifiers.instances = 1;
  config_.classifiers.fit.network.width = 8;
  config_.classifiers.fit.fit.steps = 20;
  config_.rollout.episodes = 10;
  config_.rollout.repetitions = 1;
  const auto problems = Problems();
  const auto answer = problems[0]->Stated(0, 20, 1);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->row.policy, problems[0]->policies()[0].label);
  EXPECT_TRUE(answer->row.value);
  EXPECT_NE(answer->row.verdict, "");
  ASSERT_TRUE(answer->seconds);
  EXPECT_GT(*answer->seconds, 0.0);
  // another log, another answer; the same log, the same
  EXPECT_NE(problems[0]->Stated(0, 20, 2)->row, answer->row);
  EXPECT_EQ(problems[0]->Stated(0, 20, 1)->row, answer->row);
}

TEST_F(BenchProblemTest, NothingIsStatedOfAClosedFormSystem) {
  config_.tabular = {"graph"};
  EXPECT_FALSE(Problems()[0]->Stated(0, 20, 1));
}

}  // namespace
}  // namespace lfiw::experiments
