#include "ope/judgement/backtest.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lfiw::ope {
namespace {

// Episodes with the given rewards; `ended` says which of them the environment ended.
EpisodeBatch LogOf(const std::vector<std::vector<double>>& episodes,
                   const std::vector<std::uint8_t>& ended) {
  EpisodeBatch log;
  for (const std::vector<double>& rewards : episodes) {
    log.rewards.insert(log.rewards.end(), rewards.begin(), rewards.end());
    log.offsets.push_back(static_cast<std::int64_t>(log.rewards.size()));
  }
  log.terminated = ended;
  return log;
}

TEST(LoggedValue, IsTheMeanDiscountedReturnOfTheFirstSteps) {
  const EpisodeBatch log = LogOf({{1, 2, 4, 100}, {3, 2, 0, -100}}, {0, 0});
  const auto test = LoggedValue(log, {.discount = 0.5}, 3);
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->logged, 3.5);  // returns 3 and 4
  EXPECT_DOUBLE_EQ(test->spread, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(test->logged_stderr, 0.5);
}

TEST(LoggedValue, LeavesOutEpisodesThatWereCutButKeepsThoseThatEnded) {
  const auto test = LoggedValue(LogOf({{1, 1, 1}, {7}, {5}}, {0, 0, 1}), {}, 3);
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->logged, 4.0);
  EXPECT_FALSE(LoggedValue(LogOf({{1, 1}}, {0}), {}, 3));
}

TEST(LoggedValue, FollowsTheNormalizedScale) {
  const auto test =
      LoggedValue(LogOf({{2, 4}}, {0}), {.discount = 1.0, .scale = ValueScale::kNormalized}, 2);
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->logged, 3.0);
}

TEST(Backtest, CountsOnlyWhatExceedsNoise) {
  Backtest test{.estimate = 12.0, .estimate_stderr = 3.0, .logged = 4.0, .logged_stderr = 4.0};
  EXPECT_DOUBLE_EQ(test.Gap(), 8.0);
  EXPECT_DOUBLE_EQ(test.Noise(), 5.0);
  EXPECT_DOUBLE_EQ(test.ExcessShare(), 0.0);
  test.estimate = -10.0;  // a gap of -14, 4 beyond noise: as much as the return itself
  EXPECT_DOUBLE_EQ(test.ExcessShare(), 1.0);
  test.spread = 8.0;
  EXPECT_DOUBLE_EQ(test.ExcessShare(), 0.5);
}

TEST(PossibleReturns, AddUpTheExtremeRewards) {
  const EpisodeBatch log = LogOf({{1, 2, 4}}, {0});
  const ReturnRange full = PossibleReturns(log, {.discount = 0.5}, 2, EpisodeEnd::kAtHorizon);
  EXPECT_DOUBLE_EQ(full.low, 1.5);
  EXPECT_DOUBLE_EQ(full.high, 6.0);
  const ReturnRange early = PossibleReturns(log, {.discount = 0.5}, 2, EpisodeEnd::kMayBeEarlier);
  EXPECT_DOUBLE_EQ(early.low, 0.0);
  EXPECT_DOUBLE_EQ(early.high, 6.0);
}

}  // namespace
}  // namespace lfiw::ope
