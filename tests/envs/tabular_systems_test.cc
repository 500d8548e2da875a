#include "envs/tabular_systems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"

namespace lfiw::envs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

double ValueOf(const TabularProblem& problem, const TabularPolicy& policy) {
  return ExpectedValue(problem.system, FiniteHorizonValues(problem.system, policy, problem.horizon,
                                                           problem.discount));
}

TEST(TabularSystems, AllAreValidAndKnowTheirName) {
  EXPECT_EQ(TabularProblemNames().size(), 10u);
  for (const std::string& name : TabularProblemNames()) {
    SCOPED_TRACE(name);
    const TabularProblem problem = FindTabularProblem(name);
    EXPECT_EQ(problem.name, name);
    EXPECT_NO_THROW(Validate(problem.system));
    EXPECT_NO_THROW(Validate(problem.system, problem.behavior));
    EXPECT_NO_THROW(Validate(problem.system, problem.evaluation));
  }
  EXPECT_THAT([] { FindTabularProblem("grid"); },
              ThrowsMessage<ConfigError>(HasSubstr("blackjack, loop")));
}

TEST(TabularSystems, ModelWinAndModelFailHaveTheirClosedForms) {
  // ten wins or losses of (0.6 - 0.4) times the difference of the actions' probabilities
  EXPECT_NEAR(ValueOf(ModelWin(), ModelWin().behavior), -10 * 0.2 * 0.46, 1e-12);
  EXPECT_NEAR(ValueOf(ModelWin(), ModelWin().evaluation), 10 * 0.2 * 0.46, 1e-12);
  EXPECT_NEAR(ValueOf(ModelFail(), ModelFail().behavior), 0.76, 1e-12);
  EXPECT_NEAR(ValueOf(ModelFail(), ModelFail().evaluation), -0.76, 1e-12);
  EXPECT_NEAR(ValueOf(Hybrid(), Hybrid().evaluation), -0.76 + 10 * 0.2 * 0.46, 1e-12);
}

TEST(TabularSystems, GraphHasItsPublishedValues) {
  for (const GraphView view : {GraphView::kFull, GraphView::kPartial}) {
    const TabularProblem slipping = Graph(GraphMoves::kSlipping, view, 4);
    EXPECT_NEAR(ValueOf(slipping, slipping.evaluation), -1.1644776, 1e-7);
    EXPECT_NEAR(ValueOf(slipping, slipping.behavior), 1.1644776, 1e-7);
    const TabularProblem sure = Graph(GraphMoves::kDeterministic, view, 4);
    EXPECT_NEAR(ValueOf(sure, sure.evaluation), -2.3289552, 1e-7);
    const TabularProblem longer = Graph(GraphMoves::kSlipping, view, 16);
    EXPECT_NEAR(ValueOf(longer, longer.evaluation), -4.143034191, 1e-9);
  }
  EXPECT_EQ(Graph(GraphMoves::kSlipping, GraphView::kFull, 4).system.observation_count(), 8);
  EXPECT_EQ(Graph(GraphMoves::kSlipping, GraphView::kPartial, 4).system.observation_count(), 2);
  EXPECT_THAT([] { Graph(GraphMoves::kSlipping, GraphView::kFull, 1); },
              ThrowsMessage<ConfigError>(HasSubstr("horizon is 1, expected at least 2")));
}

TEST(TabularSystems, GridworldHasItsPublishedOptimalValues) {
  const TabularProblem problem = Gridworld();
  const std::vector<double> expected = {3.268, 4.742, 6.38, 8.2, 3.122, 4.58, 8.2, 8.0,
                                        4.58,  6.2,   8.0,  10., 6.2,   8.0,  10., 0.0};
  const std::vector<double> best = OptimalValues(problem.system, problem.discount);
  for (std::size_t s = 0; s < expected.size(); ++s) EXPECT_NEAR(best[s], expected[s], 5e-4);
}

TEST(TabularSystems, GridworldsPoliciesAreBetterTheLessTheyWander) {
  const TabularProblem problem = Gridworld();
  const double behavior = ValueOf(problem, problem.behavior);
  const double evaluation = ValueOf(problem, problem.evaluation);
  EXPECT_LT(behavior, evaluation);
  EXPECT_LT(evaluation, OptimalValues(problem.system, problem.discount)[0]);
}

TEST(TabularSystems, BlackjackHasItsPublishedValueAndEndsWithinTheHorizon) {
  const TabularProblem problem = Blackjack();
  // the published number is a mean of 10^8 episodes, of standard error 1e-4; the other is by
  // rational arithmetic on hands of cards
  EXPECT_NEAR(ValueOf(problem, problem.evaluation), -0.27726, 2e-4);
  EXPECT_NEAR(ValueOf(problem, problem.evaluation), -0.2772041918250022, 1e-13);
  const double endless =
      ExpectedValue(problem.system, InfiniteHorizonValues(problem.system, problem.behavior, 1.0));
  EXPECT_NEAR(ValueOf(problem, problem.behavior), endless, 1e-12);
}

TEST(TabularSystems, LoopIsWorthOneAndItsImportanceWeightsHaveInfiniteVariance) {
  const TabularProblem problem = Loop();
  EXPECT_NEAR(ValueOf(problem, problem.evaluation), 1.0, 1e-8);
  EXPECT_DOUBLE_EQ(
      ExpectedValue(problem.system, InfiniteHorizonValues(problem.system, problem.evaluation, 1.0)),
      1.0);
  // the second moment grows by the factor E_b[ratio^2; stay] = 0.5 * 2^2 * 0.9 per step
  EXPECT_GT(problem.behavior(0, 0) * 4.0 * problem.system.transitions(0, 0, 0), 1.0);
}

}  // namespace
}  // namespace lfiw::envs
