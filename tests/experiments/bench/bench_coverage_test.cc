#include "experiments/bench/bench_coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// `covered` of 100 records hold the truth in intervals of that kind.
std::vector<BenchRecord> Records(const std::string& kind, int covered) {
  std::vector<BenchRecord> records;
  for (int k = 0; k < 100; ++k) {
    BenchRecord record;
    record.environment = "graph";
    record.estimator = "is";
    record.log_episodes = 50;
    record.truth = 1.0;
    record.value = k < covered ? 1.0 : 9.0;
    BenchInterval interval{.kind = kind, .low = *record.value - 1.0, .high = *record.value + 1.0};
    interval.assumes = "independent episodes";
    interval.conservative = kind == "hoeffding";
    record.intervals = {interval};
    records.push_back(record);
  }
  return records;
}

CoverageScore Only(const std::vector<BenchRecord>& records) {
  const std::vector<CoverageScore> scores = ScoreCoverage(records);
  EXPECT_EQ(scores.size(), 1u);
  return scores.front();
}

TEST(ScoreCoverage, CountsWhatHoldsTheTruth) {
  const CoverageScore score = Only(Records("bca", 94));
  EXPECT_DOUBLE_EQ(*score.coverage, 0.94);
  EXPECT_DOUBLE_EQ(*score.mean_width, 2.0);
  EXPECT_EQ(score.intervals, 100);
}

TEST(ScoreCoverage, HasNoWidthOfOneSidedOnes) {
  std::vector<BenchRecord> records = Records("hcope", 90);
  for (BenchRecord& record : records) record.intervals.front().high.reset();
  const CoverageScore score = Only(records);
  EXPECT_DOUBLE_EQ(*score.coverage, 0.9);
  EXPECT_FALSE(score.mean_width);
}

TEST(ScoreCoverage, KeepsTheReasonOfWhatRefuses) {
  std::vector<BenchRecord> records = Records("bca", 94);
  for (BenchRecord& record : records) {
    record.intervals = {{.kind = "bca", .low = {}, .high = {}, .reason = "no bounds"}};
  }
  const CoverageScore score = Only(records);
  EXPECT_EQ(score.refused, 100);
  EXPECT_EQ(JudgeCoverage(score, 0.95), "refused");
  EXPECT_THAT(CoverageCsv({&score, 1}, 0.95), HasSubstr("no bounds"));
}

TEST(CoverageCsv, WritesACellForEachColumn) {
  const CoverageScore score{.environment = "graph",
                            .log_episodes = 50,
                            .estimator = "is",
                            .params = "ratios.max_weight=20",
                            .kind = "hoeffding",
                            .intervals = 4,
                            .refused = 1,
                            .coverage = 1.0,
                            .mean_width = 2.5,
                            .conservative = true,
                            .assumes = "bounded returns",
                            .why_refused = ""};
  EXPECT_EQ(
      CoverageCsv({&score, 1}, 0.95),
      "env,log_episodes,estimator,params,interval,level,intervals,refused,coverage,mean_width,"
      "verdict,conservative,assumes,why_refused\n"
      "graph,50,is,ratios.max_weight=20,hoeffding,0.95,4,1,1,2.5,\"conservative\",yes,\"bounded "
      "returns\",\"\"\n");
}

TEST(JudgeCoverage, AllowsTwoPointsAndLessToWhatClaimsALowerBound) {
  const auto judge = [](const std::string& kind, int covered) {
    return JudgeCoverage(Only(Records(kind, covered)), 0.95);
  };
  EXPECT_EQ(judge("bca", 92), "too narrow");
  EXPECT_EQ(judge("bca", 93), "as claimed");
  EXPECT_EQ(judge("bca", 97), "as claimed");
  EXPECT_EQ(judge("bca", 98), "too wide");
  EXPECT_EQ(judge("hoeffding", 100), "conservative");
  EXPECT_EQ(judge("hoeffding", 94), "broken");
}

TEST(JudgeCoverage, TakesRoundingForNoError) {
  std::vector<BenchRecord> records = Records("bca", 100);
  for (BenchRecord& record : records) {
    record.intervals.front().low = record.intervals.front().high = record.truth + 1e-15;
  }
  EXPECT_EQ(JudgeCoverage(Only(records), 0.95), "exact");
}

TEST(CoverageText, HasARowPerKindAndTheAssumptionsOnce) {
  std::vector<BenchRecord> records = Records("bca", 94);
  for (BenchRecord& record : records) {
    record.intervals.push_back(record.intervals.front());
    record.intervals.back().kind = "hoeffding";
    record.intervals.back().conservative = true;
  }
  const std::vector<CoverageScore> scores = ScoreCoverage(records);
  const std::string text = CoverageText(scores, 0.95);
  EXPECT_THAT(text, HasSubstr("94.0 %"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_THAT(Assumptions(scores),
              ElementsAre("bca: independent episodes",
                          "hoeffding (at least its level): independent episodes"));
}

}  // namespace
}  // namespace lfiw::experiments
