#include "ope/truth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
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

TEST(SummariseTruth, GivesMeanAndStandardError) {
  const TruthSummary truth = SummariseTruth(std::vector<double>{1.0, 2.0, 3.0});
  EXPECT_EQ(truth.value, 2.0);
  EXPECT_DOUBLE_EQ(*truth.standard_error, 1.0 / std::sqrt(3.0));
  EXPECT_EQ(truth.episodes, 3);
}

TEST(SummariseTruth, NoEpisodesOrAnInfiniteReturnIsADataError) {
  EXPECT_THROW(SummariseTruth(std::span<const double>()), DataError);
  EXPECT_THROW(SummariseTruth(std::vector<double>{1.0, HUGE_VAL}), DataError);
}

TEST(TruthOfEpisodes, DiscountsEachEpisodeFromItsOwnStart) {
  EXPECT_DOUBLE_EQ(SummariseTruth(ThreeOnes(), 3, {.discount = 0.5}).value, (1.75 + 5.0) / 2.0);
  EXPECT_DOUBLE_EQ(SummariseTruth(ThreeOnes(), 3, {.discount = 0.0}).value, 3.0);
}

TEST(TruthOfEpisodes, NormalisedScaleDividesByTheHorizonNotTheEpisode) {
  const ValueOptions options{.scale = ValueScale::kNormalised};
  EXPECT_DOUBLE_EQ(SummariseTruth(ThreeOnes(), 4, options).value, (3.0 + 5.0) / 2.0 / 4.0);
}

TEST(TruthOfEpisodes, AnEpisodeLongerThanTheHorizonIsADataError) {
  EXPECT_THROW(SummariseTruth(ThreeOnes(), 2, {}), DataError);
}

}  // namespace
}  // namespace lfiw
