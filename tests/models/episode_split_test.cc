#include "models/episode_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace lfiw::models {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

TEST(EpisodesWithout, KeepsTheOthersInTheirOrderAndRepeats) {
  EXPECT_EQ(
      EpisodesWithout(std::vector<std::int64_t>{5, 2, 5, 7, 1}, std::vector<std::int64_t>{7, 2}),
      (std::vector<std::int64_t>{5, 5, 1}));
}

TEST(SplitEpisodes, NoEpisodeIsOnBothSidesAndRepeatsStay) {
  const std::vector<std::int64_t> drawn = {4, 4, 1, 9, 9, 9, 2, 7, 3, 3};
  const EpisodeSplit split = SplitEpisodes(drawn, 0.3, Stream(1, "s"), "test");
  EXPECT_EQ(std::set<std::int64_t>(split.validation.begin(), split.validation.end()).size(), 2u);
  for (const std::int64_t e : split.validation) {
    EXPECT_EQ(std::count(split.train.begin(), split.train.end(), e), 0);
  }
  std::vector<std::int64_t> together = split.train;
  together.insert(together.end(), split.validation.begin(), split.validation.end());
  EXPECT_THAT(together, UnorderedElementsAreArray(drawn));
}

TEST(SplitEpisodes, HoldsOutAtLeastOneAndNeverAll) {
  const std::vector<std::int64_t> two = {0, 1};
  for (const double share : {0.0, 0.9}) {
    const EpisodeSplit split = SplitEpisodes(two, share, Stream(1, "s"), "test");
    EXPECT_EQ(split.train.size(), 1u);
    EXPECT_EQ(split.validation.size(), 1u);
  }
}

TEST(SplitEpisodes, OneDistinctEpisodeIsAnError) {
  const std::vector<std::int64_t> repeated = {3, 3, 3};
  EXPECT_THROW(SplitEpisodes(repeated, 0.2, Stream(1, "s"), "test"), DataError);
}

TEST(Subsample, DrawsWithoutReplacement) {
  const std::vector<std::int64_t> values = {10, 11, 12, 13, 14};
  const auto chosen = Subsample(values, 3, Stream(1, "s"));
  EXPECT_EQ(std::set<std::int64_t>(chosen.begin(), chosen.end()).size(), 3u);
  EXPECT_THAT(Subsample(values, 9, Stream(1, "s")), UnorderedElementsAreArray(values));
}

}  // namespace
}  // namespace lfiw::models
