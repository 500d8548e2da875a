#include "models/transition_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/linear_log.h"

namespace lfiw::models {
namespace {

// Episodes of a bootstrap.
const std::vector<std::int64_t> kDrawn = {4, 1, 1, 3};

void ExpectEqual(const Transitions& a, const Transitions& b) {
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.actions, b.actions);
  EXPECT_EQ(a.next_states, b.next_states);
  EXPECT_EQ(a.aux, b.aux);
}

TEST(TransitionView, HoldsTheRowsThatGatheringCopies) {
  const EpisodeBatch log = LinearLog(5, 7, 1);
  const TransitionView view(log, kDrawn);
  ASSERT_EQ(view.size(), 28);
  Transitions rows;
  view.GatherBlock(0, 28, rows);
  ExpectEqual(rows, GatherTransitions(log, kDrawn));
}

TEST(TransitionView, GathersTheListedRows) {
  const EpisodeBatch log = LinearLog(5, 7, 1);
  const TransitionView view(log, kDrawn);
  const Transitions all = GatherTransitions(log, kDrawn);
  const std::vector<std::int64_t> picked = {27, 0, 0, 13};
  Transitions rows;
  view.Gather(picked, rows);
  ExpectEqual(rows, {all.states(picked, Eigen::all), all.actions(picked, Eigen::all),
                     all.next_states(picked, Eigen::all), all.aux(picked, Eigen::all)});
}

TEST(TransitionView, FitsTheScalersOfTheCopiedRowsToTheBit) {
  const EpisodeBatch log = LinearLog(5, 7, 1);
  const TransitionView view(log, kDrawn);
  const Transitions all = GatherTransitions(log, kDrawn);
  const std::vector<std::pair<TransitionPart, MatrixF>> parts = {
      {TransitionPart::kState, all.states},
      {TransitionPart::kAction, all.actions},
      {TransitionPart::kNextState, all.next_states},
      {TransitionPart::kChange, all.next_states - all.states},
      {TransitionPart::kAux, all.aux}};
  for (const auto& [part, rows] : parts) {
    const Scaler scaler = view.FitScaler(part, {}), expected = Scaler::Fit(rows);
    EXPECT_EQ(scaler.mean(), expected.mean());
    EXPECT_EQ(scaler.deviation(), expected.deviation());
    EXPECT_EQ(scaler.active(), expected.active());
  }
}

TEST(TransitionView, OfALogWithoutAuxHasRowsWithout) {
  EpisodeBatch log = LinearLog(2, 3, 1);
  log.aux.resize(log.steps(), 0);
  const TransitionView view(log, Range(2));
  Transitions rows;
  view.GatherBlock(1, 4, rows);
  EXPECT_EQ(rows.aux.rows(), 4);
  EXPECT_EQ(rows.aux.cols(), 0);
  EXPECT_EQ(view.FitScaler(TransitionPart::kAux, {}).dim(), 0);
}

TEST(ForEachBlock, PassesEveryRowOnceAndInOrder) {
  const EpisodeBatch log = LinearLog(45, 200, 1);
  const TransitionView view(log, Range(45));
  const Transitions all = GatherTransitions(log, Range(45));
  std::int64_t next = 0;
  ForEachBlock(view, [&](std::int64_t begin, const Transitions& block) {
    EXPECT_EQ(begin, next);
    EXPECT_EQ(block.states, all.states.middleRows(begin, block.size()));
    EXPECT_EQ(block.actions, all.actions.middleRows(begin, block.size()));
    next += block.size();
  });
  EXPECT_EQ(next, 9000);
}

TEST(TransitionView, LeavesOutEndsThatAreNotRecordedUnlessAllStepsAreAsked) {
  EpisodeBatch log = LinearLog(2, 3, 1);
  log.terminated = log.end_unrecorded = {0, 1};
  const std::vector<std::int64_t> episodes = {1, 0};
  const TransitionView outcomes(log, episodes);
  ASSERT_EQ(outcomes.size(), 5);
  EXPECT_EQ(outcomes.Step(0), 3);
  EXPECT_EQ(outcomes.Step(2), 0);
  Transitions rows;
  outcomes.GatherBlock(0, 5, rows);
  ExpectEqual(rows, GatherTransitions(log, episodes));
  for (const TransitionRows which : {TransitionRows::kEnds, TransitionRows::kAllSteps}) {
    const TransitionView all(log, episodes, which);
    ASSERT_EQ(all.size(), 6);
    EXPECT_EQ(all.Step(2), 5);
  }
  // where a limit cut the episode there
  log.terminated = {0, 0};
  EXPECT_EQ(TransitionView(log, episodes, TransitionRows::kEnds).size(), 5);
  EXPECT_EQ(TransitionView(log, episodes, TransitionRows::kAllSteps).size(), 6);
}

}  // namespace
}  // namespace lfiw::models
