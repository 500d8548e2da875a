#include "experiments/calibration/verdict_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(CasesCsv, HasAsManyCellsAsColumnsAndQuotesReasons) {
  JudgedCase c = CaseOf(PlantedFailure::kStateGap, Verdict::kCaution, 5.0);
  c.judgement.reasons = {"a \"b\", c"};
  const std::string csv = CasesCsv(std::vector<JudgedCase>{c}, 0.1);
  EXPECT_THAT(csv, HasSubstr("\"a \"\"b\"\", c\""));
  const std::size_t line = csv.find('\n') + 1;
  const auto commas = [](std::string_view text) { return std::ranges::count(text, ','); };
  // one comma is inside the quotes
  EXPECT_EQ(commas(csv.substr(0, line)) + 1, commas(csv.substr(line)));
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

TEST(ErrorPlot, HasAPointForEveryCaseWithAnEstimate) {
  std::vector<JudgedCase> cases = {CaseOf(PlantedFailure::kStateGap, Verdict::kDoNotUse, 5.0),
                                   CaseOf(PlantedFailure::kNone, Verdict::kTrust, 0.1)};
  cases[1].outcome.value.reset();
  const Plot plot = ErrorPlot(cases);
  ASSERT_EQ(plot.series.size(), 1u);
  EXPECT_DOUBLE_EQ(plot.series[0].y[0], 0.5);
}

}  // namespace
}  // namespace lfiw::experiments
