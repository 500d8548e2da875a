#include "experiments/calibration/verdict_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

JudgedCase CaseOf(PlantedFailure plant, Verdict verdict, double error) {
  JudgedCase c;
  c.drawn.kind = plant == PlantedFailure::kNone ? CaseKind::kGood : CaseKind::kSupportGap;
  c.drawn.plant = plant;
  c.drawn.system = ScalarLinearGaussian();
  c.drawn.behavior =
      c.drawn.evaluation = {MatrixD::Zero(1, 1), VectorD::Zero(1), MatrixD::Ones(1, 1)};
  c.drawn.horizon = 3;
  c.outcome.truth = 10.0;
  c.outcome.value = 10.0 + error;
  c.outcome.standard_error = 0.1;
  c.outcome.ci_low = *c.outcome.value - 2.0;
  c.outcome.ci_high = *c.outcome.value + 2.0;
  c.outcome.plain_low = *c.outcome.value - 0.2;
  c.outcome.plain_high = *c.outcome.value + 0.2;
  c.judgement.verdict = verdict;
  return c;
}

const VerdictCount& Find(const std::vector<VerdictCount>& counts, const std::string& label) {
  for (const VerdictCount& count : counts) {
    if (count.label == label) return count;
  }
  throw std::runtime_error("no count of " + label);
}

TEST(JudgedCase, IsWrongBeyondNoiseAndItsShareOfAReturn) {
  JudgedCase c = CaseOf(PlantedFailure::kNone, Verdict::kTrust, 1.5);
  EXPECT_TRUE(c.IsWrong(0.1));
  EXPECT_FALSE(c.IsWrong(0.2));
  c.outcome.standard_error = 1.0;
  EXPECT_FALSE(c.IsWrong(0.1));
  c.outcome.standard_error = 0.1;
  c.outcome.spread = 20.0;
  EXPECT_FALSE(c.IsWrong(0.1));
  c.outcome.value.reset();
  EXPECT_TRUE(c.IsWrong(0.1));
}

TEST(CountVerdicts, CountsVerdictsErrorsAndCoverage) {
  const std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0),
                                         CaseOf(PlantedFailure::kStateGap, Verdict::kCaution, 1.5),
                                         CaseOf(PlantedFailure::kNone, Verdict::kTrust, 0.1)};
  const std::vector<VerdictCount> counts = CountVerdicts(cases, 0.1);
  const VerdictCount& gap = Find(counts, "state_gap");
  EXPECT_EQ(gap.cases, 2);
  EXPECT_EQ(gap.refused, 1);
  EXPECT_EQ(gap.caution, 1);
  EXPECT_EQ(gap.wrong, 2);
  EXPECT_EQ(gap.covered, 1);
  EXPECT_EQ(gap.plainly_covered, 0);
  const VerdictCount& good = Find(counts, "all good");
  EXPECT_EQ(good.trust, 1);
  EXPECT_EQ(good.wrong, 0);
  EXPECT_EQ(good.plainly_covered, 1);
}

CalibrationTable TableOf(const std::vector<JudgedCase>& cases) {
  return {
      .title = "an estimate", .counts = CountVerdicts(cases, 0.1), .svg = "", .has_goals = true};
}

TEST(CountVerdicts, HasARowOfWhatIsWrong) {
  const std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0),
                                         CaseOf(PlantedFailure::kStateGap, Verdict::kCaution, 0.1),
                                         CaseOf(PlantedFailure::kNone, Verdict::kTrust, -4.0)};
  const VerdictCount wrong = Find(CountVerdicts(cases, 0.1), "all wrong");
  EXPECT_EQ(wrong.cases, 2);
  EXPECT_EQ(wrong.refused, 1);
  EXPECT_EQ(wrong.trust, 1);
}

TEST(CalibrationText, StatesTheSharesAndTheGoals) {
  const std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0),
                                         CaseOf(PlantedFailure::kNone, Verdict::kCaution, 0.1)};
  CalibrationTable table = TableOf(cases);
  const std::string text = CalibrationText(table);
  EXPECT_THAT(text, HasSubstr("100.0 % of the planted failures are refused"));
  EXPECT_THAT(text, HasSubstr("0.0 % of the good cases are trusted"));
  table.has_goals = false;
  EXPECT_THAT(CalibrationText(table), Not(HasSubstr("the goal is")));
}

TEST(CasesCsv, NamesItsColumnsAndWritesACellForEach) {
  JudgedCase c = CaseOf(PlantedFailure::kStateGap, Verdict::kCaution, 5.0);
  c.index = 7;
  c.judgement.reasons = {"a \"b\"", "c"};
  c.outcome.estimator = "model";
  c.outcome.horizon = 2;
  c.outcome.interval_method = "back_test";
  c.outcome.evidence.model_auc = 0.75;
  c.outcome.evidence.support =
      SupportCheck{.outside = 0.25, .median_ratio = 1.5, .worst_quarter = 0.5};
  c.outcome.evidence.reach = 1.0;
  EXPECT_EQ(
      CasesCsv(std::vector<JudgedCase>{c}, 0.1),
      "case,kind,plant,strength,verdict,reasons,estimator,H,horizon,value,stderr,truth,error,size,"
      "relative_error,wrong,ci_low,ci_high,interval_method,covered,covered_not_widened,ess,"
      "khat,clamp_rate,ece,auc,log_mean_weight,outside,median_ratio,worst_quarter,back_test_gap,"
      "back_test_noise,back_test_share,open_loop,reach,influence,uncorrected\n" +
          fmt::format(
              "7,support_gap,state_gap,{},caution,\"a \"\"b\"\"; c\",model,2,3,15,0.1,10,5,10,"
              "0.5,1,13,17,back_test,0,0,,,,,0.75,,0.25,1.5,0.5,,,,,1,,\n",
              PlantStrength(c.drawn)));
}

TEST(CasesCsv, DocumentsEveryColumn) {
  const auto columns = CaseColumns(0.1);
  for (const auto& column : columns.columns()) {
    EXPECT_FALSE(column.meaning.empty()) << column.name;
  }
  EXPECT_THAT(CaseColumns(0.1).Describe(), HasSubstr("relative_error: |error| / size\n"));
}

TEST(SummaryCsv, HasTheCountsAndSharesThatThePageShows) {
  std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0),
                                   CaseOf(PlantedFailure::kStateGap, Verdict::kCaution, 1.25)};
  const std::string csv = SummaryCsv(std::vector<CalibrationTable>{TableOf(cases)});
  EXPECT_THAT(csv, StartsWith("estimate,cases,n,trust,caution,refused,wrong,intervals,covered,"
                              "covered_not_widened,trust_share,caution_share,refused_share,"
                              "wrong_share,median_error,covered_share,covered_not_widened_share\n"
                              "an estimate,state_gap,2,0,1,1,2,2,1,0,0,0.5,0.5,1,0.3125,0.5,0\n"));
}

TEST(SummaryCsv, LeavesSharesOfNothingEmpty) {
  std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kNone, Verdict::kDoNotUse, 0.0)};
  cases[0].outcome.value.reset();
  cases[0].outcome.ci_low.reset();
  EXPECT_THAT(SummaryCsv(std::vector<CalibrationTable>{TableOf(cases)}),
              HasSubstr("an estimate,all good,1,0,0,1,1,0,0,0,0,0,1,1,,,\n"));
}

TEST(CalibrationPage, SaysWhetherTheGoalsAreMet) {
  std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0)};
  const auto page = [&] {
    const std::vector<CalibrationTable> tables = {TableOf(cases)};
    return CalibrationPage(tables, "lfiw run x", 0.1);
  };
  EXPECT_THAT(page(), HasSubstr("goals met"));
  cases[0].judgement.verdict = Verdict::kTrust;
  EXPECT_THAT(page(), HasSubstr("goals missed"));
}

TEST(CalibrationPage, StatesTheConfiguredShareOfAReturn) {
  const std::vector<JudgedCase> cases = {
      CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0)};
  std::vector<CalibrationTable> tables = {TableOf(cases)};
  tables[0].svg = "<svg></svg>";
  const std::string page = CalibrationPage(tables, "lfiw run x", 0.25);
  EXPECT_THAT(page, HasSubstr("off by more than 25 % of a return."));
  EXPECT_THAT(page, HasSubstr("two standard errors and by more than 25 % of a return"));
  EXPECT_THAT(page, Not(HasSubstr("tenth")));
}

TEST(ErrorPlot, DrawsTheConfiguredShareOfAReturn) {
  const std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kNone, Verdict::kTrust, 0.1)};
  const Plot plot = ErrorPlot(cases, 0.25);
  ASSERT_EQ(plot.references.size(), 1u);
  EXPECT_EQ(plot.references[0].y, 0.25);
  EXPECT_EQ(plot.references[0].label, "25 % of a return");
  EXPECT_TRUE(ErrorPlot(cases, 0.0).references.empty());
}

TEST(ErrorPlot, ColorsAVerdictByWhatItMeans) {
  const std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0),
                                         CaseOf(PlantedFailure::kNone, Verdict::kTrust, 0.1)};
  const Plot plot = ErrorPlot(cases, 0.1);
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[0].color, PlotColor::kGood);
  EXPECT_EQ(plot.series[1].color, PlotColor::kBad);
}

TEST(ErrorPlot, HasAPointForEveryCaseWithAnEstimate) {
  std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0),
                                   CaseOf(PlantedFailure::kNone, Verdict::kTrust, 0.1)};
  cases[1].outcome.value.reset();
  const Plot plot = ErrorPlot(cases, 0.1);
  ASSERT_EQ(plot.series.size(), 1u);
  EXPECT_DOUBLE_EQ(plot.series[0].y[0], 0.5);
}

}  // namespace
}  // namespace lfiw::experiments
