#include "experiments/bench/bench_ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

BenchScore Score(const std::string& environment, const std::string& estimator, double relative) {
  BenchScore score;
  score.environment = environment;
  score.estimator = estimator;
  score.log_episodes = 50;
  score.estimates = 4;
  score.relative = relative;
  score.coverage = relative < 0.5 ? 1.0 : 0.5;
  return score;
}

// Two systems in whose order the estimators differ, and one of which only two were asked.
std::vector<BenchScore> Scores() {
  return {Score("a", "x", 0.1), Score("a", "y", 0.2), Score("a", "z", 0.3),
          Score("b", "y", 0.2), Score("b", "x", 0.4), Score("b", "z", 0.9)};
}

TEST(RankEstimators, AveragesPlacesOverSystems) {
  const std::vector<BenchRank> ranking = RankEstimators(Scores());
  ASSERT_EQ(ranking.size(), 3u);
  EXPECT_DOUBLE_EQ(ranking[0].mean_rank, 1.5);
  EXPECT_DOUBLE_EQ(*ranking[0].rank_error, 0.5);
  EXPECT_EQ(ranking[2].estimator, "z");
  EXPECT_DOUBLE_EQ(ranking[2].mean_rank, 3.0);
  EXPECT_DOUBLE_EQ(*ranking[2].relative, 0.6);
  EXPECT_DOUBLE_EQ(*ranking[2].coverage, 0.75);
  EXPECT_EQ(ranking[2].estimates, 8);
  EXPECT_TRUE(SeveralGroups(ranking));
}

TEST(RankEstimators, SizesOfTheLogAreGroupsOfTheirOwn) {
  std::vector<BenchScore> scores = {Score("a", "x", 0.1), Score("a", "y", 0.2),
                                    Score("a", "y", 0.1), Score("a", "x", 0.2)};
  scores[2].log_episodes = scores[3].log_episodes = 1000;
  const std::vector<BenchRank> ranking = RankEstimators(scores);
  EXPECT_DOUBLE_EQ(ranking[0].mean_rank, 1.5);
  EXPECT_EQ(ranking[0].groups, 2);
}

TEST(RankEstimators, OneSystemHasNoErrorOfTheRank) {
  const std::vector<BenchScore> scores = Scores();
  const std::vector<BenchRank> ranking = RankEstimators(std::span(scores).first(3));
  EXPECT_FALSE(ranking[0].rank_error);
  EXPECT_FALSE(SeveralGroups(ranking));
}

TEST(RankingText, ShowsWhatWasMeasured) {
  const std::string text = RankingText(RankEstimators(Scores()));
  EXPECT_THAT(text, HasSubstr("mean rank"));
  EXPECT_THAT(text, HasSubstr("60.0 %"));
  EXPECT_THAT(RankingColumns().Format(RankEstimators(Scores())), HasSubstr("z,,2,3,0,0.6"));
}

}  // namespace
}  // namespace lfiw::experiments
