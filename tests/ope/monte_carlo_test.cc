#include "ope/monte_carlo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"

namespace lfiw {
namespace {

EpisodeBatch ThreeOnes() {
  EpisodeBatch log;
  log.rewards = {1.0, 1.0, 1.0, 5.0};
  log.offsets = {0, 3, 4};
  log.terminated = {0, 1};
  return log;
}

TEST(SummariseReturns, GivesMeanAndStandardError) {
  const MonteCarloValue truth = SummariseReturns(std::vector<double>{1.0, 2.0, 3.0});
  EXPECT_EQ(truth.value, 2.0);
  EXPECT_DOUBLE_EQ(*truth.standard_error, 1.0 / std::sqrt(3.0));
  EXPECT_EQ(truth.episodes, 3);
}

TEST(SummariseReturns, NoEpisodesOrAnInfiniteReturnIsADataError) {
  EXPECT_THROW(SummariseReturns({}), DataError);
  EXPECT_THROW(SummariseReturns(std::vector<double>{1.0, HUGE_VAL}), DataError);
}

TEST(MonteCarlo, DiscountsEachEpisodeFromItsOwnStart) {
  EXPECT_DOUBLE_EQ(EstimateMonteCarlo(ThreeOnes(), 3, {.discount = 0.5}).value, (1.75 + 5.0) / 2.0);
  EXPECT_DOUBLE_EQ(EstimateMonteCarlo(ThreeOnes(), 3, {.discount = 0.0}).value, 3.0);
}

TEST(MonteCarlo, NormalisedScaleDividesByTheHorizonNotTheEpisode) {
  const ValueOptions options{.scale = ValueScale::kNormalised};
  EXPECT_DOUBLE_EQ(EstimateMonteCarlo(ThreeOnes(), 4, options).value, (3.0 + 5.0) / 2.0 / 4.0);
}

TEST(MonteCarlo, AnEpisodeLongerThanTheHorizonIsADataError) {
  EXPECT_THROW(EstimateMonteCarlo(ThreeOnes(), 2, {}), DataError);
}

}  // namespace
}  // namespace lfiw
