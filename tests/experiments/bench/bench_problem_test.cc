#include "experiments/bench/bench_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envs/tabular_systems.h"
#include "tests/core/test_dir.h"

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

}  // namespace
}  // namespace lfiw::experiments
