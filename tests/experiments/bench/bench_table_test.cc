#include "experiments/bench/bench_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

BenchRecord Record(const std::string& estimator, const std::string& policy, double truth,
                   std::optional<double> value, std::uint64_t seed = 0) {
  BenchRecord record;
  record.environment = "graph";
  record.behavior = "behavior";
  record.policy = policy;
  record.estimator = estimator;
  record.log_episodes = 50;
  record.seed = seed;
  record.truth = truth;
  record.value = value;
  if (value) {
    record.intervals = {{.kind = "bca", .low = *value - 1.0, .high = *value + 1.0}};
    record.seconds = 2.0;
    record.mismatch = policy == "a" ? 0.5 : 1.5;
  } else {
    record.reason = "no support";
  }
  return record;
}

// Two policies and two logs: `good` ranks them right in both, `bad` in none and refuses once.
std::vector<BenchRecord> Records() {
  return {Record("bad", "a", 1.0, 4.0, 0),  Record("bad", "b", 2.0, 0.0, 0),
          Record("bad", "a", 1.0, 3.0, 1),  Record("bad", "b", 2.0, {}, 1),
          Record("good", "a", 1.0, 1.5, 0), Record("good", "b", 2.0, 2.5, 0),
          Record("good", "a", 1.0, 0.5, 1), Record("good", "b", 2.0, 4.0, 1)};
}

TEST(ScoreBench, PutsTheSmallestErrorFirstAndCountsRefusals) {
  const std::vector<BenchScore> scores = ScoreBench(Records());
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].estimator, "good");
  EXPECT_DOUBLE_EQ(scores[0].bias, (0.5 + 0.5 - 0.5 + 2.0) / 4);
  EXPECT_DOUBLE_EQ(scores[0].rmse, std::sqrt((0.25 + 0.25 + 0.25 + 4.0) / 4));
  EXPECT_DOUBLE_EQ(*scores[0].coverage, 0.75);
  EXPECT_EQ(scores[1].refused, 1);
  EXPECT_EQ(scores[1].why_refused, "no support");
}

TEST(ScoreBench, RanksThePoliciesOfEachLog) {
  const std::vector<BenchScore> scores = ScoreBench(Records());
  EXPECT_DOUBLE_EQ(*scores[0].spearman, 1.0);
  EXPECT_DOUBLE_EQ(*scores[0].regret_at_1, 0.0);
  // of the second log there is one policy left, which has no rank
  EXPECT_DOUBLE_EQ(*scores[1].spearman, -1.0);
  EXPECT_DOUBLE_EQ(*scores[1].regret_at_1, 1.0);
  EXPECT_DOUBLE_EQ(*scores[1].top_1, 0.0);
}

TEST(ScoreBench, PutsEstimatorsThatAlwaysRefuseLast) {
  std::vector<BenchRecord> records = Records();
  records.push_back(Record("absent", "a", 1.0, {}));
  const std::vector<BenchScore> scores = ScoreBench(records);
  EXPECT_EQ(scores.back().estimator, "absent");
  EXPECT_FALSE(scores.back().coverage);
}

TEST(ScoreBench, PutsEstimatorsThatRefusedSomeAfterThoseThatAlwaysAnswer) {
  std::vector<BenchRecord> records = Records();
  records.push_back(Record("choosy", "a", 1.0, 1.0));
  records.push_back(Record("choosy", "b", 2.0, {}));
  const std::vector<BenchScore> scores = ScoreBench(records);
  EXPECT_EQ(scores[0].estimator, "good");
  EXPECT_EQ(scores[1].estimator, "choosy");
  EXPECT_EQ(scores[1].rmse, 0.0);
}

TEST(ScoreBench, CountsVerdictsAndTheCoverageOfWhatTheyLetPass) {
  std::vector<BenchRecord> records = {
      Record("stated", "a", 1.0, 1.5, 0),   // holds the truth
      Record("stated", "b", 2.0, 4.0, 0),   // does not
      Record("stated", "a", 1.0, 9.0, 1)};  // does not, and is refused
  records[0].verdict = "trust";
  records[1].verdict = "caution";
  records[2].verdict = "do not use";
  const std::vector<BenchScore> scores = ScoreBench(records);
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(VerdictsText(scores[0]), "1 / 1 / 1");
  EXPECT_DOUBLE_EQ(*scores[0].coverage, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(*scores[0].coverage_of_usable, 0.5);
  EXPECT_DOUBLE_EQ(*scores[0].half_width, 1.0);  // 1 of 1, 1 of 2, 1 of 1
  EXPECT_EQ(VerdictsText(ScoreBench(Records())[0]), "");
}

TEST(BenchCsv, HasALinePerEstimateWithItsReason) {
  const std::string csv = BenchCsv(Records());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 9);
  EXPECT_THAT(csv, HasSubstr("\"no support\""));
  EXPECT_EQ(csv.find("nan"), std::string::npos);
}

TEST(BenchCsv, WritesACellForEachColumn) {
  BenchRecord record = Record("good", "a, b", 1.0, 1.5);
  record.standard_error = 0.25;
  record.notes = {"one", "two"};
  EXPECT_EQ(BenchCsv(std::vector<BenchRecord>{record}),
            "env,behavior,policy,estimator,params,log_episodes,seed,value,stderr,ci_low,ci_high,"
            "interval_method,ess,khat,truth,truth_stderr,error,mismatch,reason,verdict,"
            "notes\n"
            "graph,\"behavior\",\"a, b\",good,,50,0,1.5,0.25,0.5,2.5,bca,,,1,0,0.5,1.5,\"\",,"
            "\"one; two\"\n");
}

TEST(ScoresCsv, LeavesTheErrorsOfAnEstimatorThatAlwaysRefusesEmpty) {
  BenchScore refused;
  refused.environment = "graph";
  refused.estimator = "absent";
  refused.log_episodes = 50;
  refused.refused = 2;
  refused.why_refused = "no support";
  BenchScore good;
  good.environment = "graph";
  good.estimator = "good";
  good.log_episodes = 50;
  good.estimates = 2;
  good.bias = 0.5;
  good.mae = 1.0;
  good.rmse = 2.0;
  good.relative = 0.25;
  good.coverage = 1.0;
  EXPECT_EQ(
      ScoresCsv(std::vector<BenchScore>{good, refused}),
      "env,log_episodes,estimator,params,estimates,refused,bias,mae,rmse,relative,spearman,kendall,"
      "regret_at_1,top_1,coverage,half_width,trusted,cautioned,distrusted,coverage_of_usable,"
      "why_refused\n"
      "graph,50,good,,2,0,0.5,1,2,0.25,,,,,1,,,,,,\"\"\n"
      "graph,50,absent,,0,2,,,,,,,,,,,,,,,\"no support\"\n");
}

TEST(TimingColumns, SayThatTimesAreInSeconds) {
  EXPECT_EQ(TimingColumns().Header(),
            "env,behavior,policy,estimator,params,log_episodes,seed,seconds\n");
  EXPECT_THAT(TimingColumns().Describe(), HasSubstr("seconds [s]: "));
}

TEST(BenchPlots, ShowEstimatesAgainstTruthsOfTheBestEstimators) {
  const std::vector<BenchRecord> records = Records();
  const std::vector<BenchScore> scores = ScoreBench(records);
  const Plot plot = TruthPlot(records, scores, "graph");
  ASSERT_EQ(plot.series.size(), 3u);
  EXPECT_EQ(plot.series[1].label, "good");
  EXPECT_EQ(plot.series[1].x.size(), 4u);
  EXPECT_EQ(plot.series[2].x.size(), 3u);
  EXPECT_EQ(SizePlot(scores, "graph").series.size(), 2u);
}

TEST(BenchPlots, ShowErrorsAgainstTheMismatchOfThePolicies) {
  const std::vector<BenchRecord> records = Records();
  const Plot plot = MismatchPlot(records, ScoreBench(records), "graph");
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[0].label, "good");
  EXPECT_EQ(plot.series[0].x, (std::vector<double>{0.5, 1.5}));
  EXPECT_DOUBLE_EQ(plot.series[0].y[0], 0.5);
  EXPECT_DOUBLE_EQ(plot.series[0].y[1], std::sqrt((0.25 + 4.0) / 2));
  const Plot all = MismatchPlot(records);
  ASSERT_EQ(all.series.size(), 2u);
  EXPECT_DOUBLE_EQ(all.series[0].y[1], std::sqrt((0.25 + 4.0) / 2) / 2.0);
}

TEST(BenchTimes, AreInTheTableAndInAFileOfTheirOwn) {
  const std::vector<BenchRecord> records = Records();
  EXPECT_DOUBLE_EQ(*ScoreBench(records)[0].seconds, 2.0);
  EXPECT_THAT(TimingsCsv(records), HasSubstr("\"a\",good,,50,0,2\n"));
  EXPECT_EQ(BenchCsv(records).find("seconds"), std::string::npos);
}

TEST(BenchPage, SaysWhyEstimatorsRefused) {
  const std::string page = BenchPage(ScoreBench(Records()), {}, {}, {}, "lfiw bench FILE");
  EXPECT_THAT(page, HasSubstr("bad: no support"));
  EXPECT_THAT(page, HasSubstr("lfiw bench FILE"));
}

}  // namespace
}  // namespace lfiw::experiments
