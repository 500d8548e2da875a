#include "ope/judgement/backtest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/rng.h"

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
  EXPECT_DOUBLE_EQ(test->logged_stderr.value(), 0.5);
}

TEST(LoggedValue, CountsCutEpisodesWhileTheyRun) {
  // step 0: mean 13/3; a third ends there; then only the first runs
  const auto test = LoggedValue(LogOf({{1, 1, 1}, {7}, {5}}, {0, 0, 1}), {}, 3);
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->logged, 13.0 / 3.0 + 2.0 / 3.0 + 2.0 / 3.0);
  EXPECT_FALSE(LoggedValue(LogOf({{1, 1}}, {0}), {}, 3));
}

TEST(LoggedValue, IsNotBiasedToEpisodesThatEndEarly) {
  // reward 1 a step, 5 % end at every step, half of the episodes are cut after 20 steps
  Stream stream(4, "censored");
  std::vector<std::vector<double>> episodes;
  std::vector<std::uint8_t> ended;
  for (int e = 0; e < 20000; ++e) {
    const int limit = stream.Uniform() < 0.5 ? 20 : 50;
    int length = 1;
    bool end = stream.Uniform() < 0.05;
    while (!end && length < limit) {
      ++length;
      end = stream.Uniform() < 0.05;
    }
    episodes.emplace_back(length, 1.0);
    ended.push_back(end ? 1 : 0);
  }
  const auto test = LoggedValue(LogOf(episodes, ended), {}, 50);
  ASSERT_TRUE(test);
  const double truth = (1.0 - std::pow(0.95, 50)) / 0.05;
  EXPECT_NEAR(test->logged, truth, 4.0 * *test->logged_stderr);
  EXPECT_LT(*test->logged_stderr, 0.2);
}

TEST(LoggedValue, OfOneEpisodeHasNoError) {
  const auto test = LoggedValue(LogOf({{1, 2}}, {0}), {}, 2);
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->logged, 3.0);
  EXPECT_FALSE(test->logged_stderr);
}

TEST(LargestInfluence, IsTheShareOfTheFarthestValue) {
  std::vector<double> values(100, 0.0);
  EXPECT_FALSE(LargestInfluence(values));
  values[3] = 1e6;
  EXPECT_NEAR(LargestInfluence(values).value(), 0.99, 0.001);
  Stream stream(1, "influence");
  for (double& value : values) value = stream.Normal();
  EXPECT_LT(LargestInfluence(values).value(), 0.2);
  EXPECT_FALSE(LargestInfluence(std::vector<double>{0.0, 1.0}));
}

TEST(RecordedReturns, CountEveryEpisodeOnceWhetherOrNotItWasCut) {
  // a single episode goes on behind the cut of the others; for the logged value it stands for all
  Stream stream(6, "recorded");
  std::vector<std::vector<double>> rewards(40);
  for (auto& row : rewards) row = {stream.Normal(), stream.Normal()};
  rewards[7].push_back(1.0);
  const EpisodeBatch log = LogOf(rewards, std::vector<std::uint8_t>(40, 0));
  EXPECT_GT(LargestInfluence(LoggedReturns(log, {}, 3)).value(), 0.9);
  EXPECT_LT(LargestInfluence(RecordedReturns(log, {}, 3)).value(), 0.4);
  EXPECT_DOUBLE_EQ(RecordedReturns(log, {.discount = 0.5}, 2)[7],
                   rewards[7][0] + 0.5 * rewards[7][1]);
}

TEST(LoggedRange, IsThatOfReturnsThatAreWhole) {
  std::vector<std::vector<double>> rewards(25, {1.0, 2.0});
  rewards[3] = {-4.0};
  rewards[4] = {-5.0};
  std::vector<std::uint8_t> ended(25, 0);
  ended[3] = 1;  // the other short one was cut
  const auto range = LoggedRange(LogOf(rewards, ended), {}, 2);
  ASSERT_TRUE(range);
  EXPECT_DOUBLE_EQ(range->low, -4.0);
  EXPECT_DOUBLE_EQ(range->high, 3.0);
  EXPECT_FALSE(LoggedRange(LogOf(rewards, ended), {}, 3));  // a single one
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
