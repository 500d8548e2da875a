#include "experiments/evaluation/log_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::AnyOfArray;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAreArray;

std::vector<std::int64_t> All(std::int64_t count) {
  std::vector<std::int64_t> episodes(static_cast<std::size_t>(count));
  std::iota(episodes.begin(), episodes.end(), 0);
  return episodes;
}

TEST(SplitLog, PartsAreDisjointAndTogetherEverything) {
  const LogSplit split = SplitLog(50, {}, 5, 1);
  EXPECT_THAT(split.dynamics, SizeIs(40));
  std::vector<std::int64_t> both = split.dynamics;
  both.insert(both.end(), split.classifiers.begin(), split.classifiers.end());
  EXPECT_THAT(both, UnorderedElementsAreArray(All(50)));
  EXPECT_THAT(split.skipped, IsEmpty());
}

TEST(SplitLog, SeedDecidesWhichEpisodes) {
  const LogOptions options;
  EXPECT_EQ(SplitLog(50, options, 5, 1).dynamics, SplitLog(50, options, 5, 1).dynamics);
  EXPECT_NE(SplitLog(50, options, 5, 1).dynamics, SplitLog(50, options, 5, 2).dynamics);
}

TEST(SplitLog, CrossFittingGivesEachMemberOneFoldToSkip) {
  LogOptions options;
  options.cross_fit = 3;
  const LogSplit split = SplitLog(20, options, 5, 1);
  EXPECT_THAT(split.dynamics, UnorderedElementsAreArray(All(20)));
  EXPECT_THAT(split.classifiers, UnorderedElementsAreArray(All(20)));
  ASSERT_THAT(split.skipped, SizeIs(5));
  // members 0 and 3 share fold 0, 1 and 4 fold 1; the three folds are all episodes
  EXPECT_EQ(split.skipped[0], split.skipped[3]);
  EXPECT_EQ(split.skipped[1], split.skipped[4]);
  std::vector<std::int64_t> folds;
  for (int k = 0; k < 3; ++k) {
    folds.insert(folds.end(), split.skipped[static_cast<std::size_t>(k)].begin(),
                 split.skipped[static_cast<std::size_t>(k)].end());
  }
  EXPECT_THAT(folds, UnorderedElementsAreArray(All(20)));
}

TEST(SplitLog, HasNoMoreFoldsThanMembersAndNoneForOne) {
  LogOptions options;
  options.cross_fit = 5;
  const LogSplit two = SplitLog(20, options, 2, 1);
  ASSERT_THAT(two.skipped, SizeIs(2));
  EXPECT_THAT(two.skipped[0], SizeIs(10));
  const LogSplit one = SplitLog(20, options, 1, 1);
  EXPECT_THAT(one.skipped, SizeIs(0));
  EXPECT_THAT(one.classifiers, SizeIs(4));
}

TEST(SplitLog, SaysThatOneEpisodeIsTooFew) {
  EXPECT_THAT([] { SplitLog(1, {}, 5, 1); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("the log has 1 episode,"), HasSubstr("takes at least two"))));
  EXPECT_THAT(SplitLog(2, {}, 5, 1).classifiers, SizeIs(1));
}

TEST(ResampleLog, RepeatsEpisodesOnlyWithinTheirPart) {
  const LogSplit split = SplitLog(50, {}, 5, 1);
  const LogSplit drawn = ResampleLog(split, 1, 0);
  EXPECT_THAT(drawn.dynamics, SizeIs(split.dynamics.size()));
  EXPECT_THAT(drawn.dynamics, Each(AnyOfArray(split.dynamics)));
  EXPECT_THAT(drawn.classifiers, Each(AnyOfArray(split.classifiers)));
  EXPECT_NE(ResampleLog(split, 1, 1).dynamics, drawn.dynamics);
}

}  // namespace
}  // namespace lfiw::experiments
