#include "experiments/evaluation/policy_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/evaluation/result_rows.h"
#include "ope/rollouts/calibrated_model.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

// A policy whose model's value is `value`, with these values in the members.
PolicyEvaluation OfModel(const std::string& label, double value, std::vector<double> members) {
  PolicyEvaluation evaluation;
  evaluation.policy.label = label;
  evaluation.measured.member_values = std::move(members);
  // without reliable weights the plain model is stated
  evaluation.measured.sweeps.resize(1);
  JudgedRow row;
  row.key = ChooseHeadline(evaluation.measured).key;
  row.row.policy = label;
  row.row.value = value;
  row.row.standard_error = 1.0;
  evaluation.rows = {row};
  return evaluation;
}

FamilyValues Family(const std::vector<double>& values) {
  const auto scales = static_cast<std::int64_t>(kFamilyScales.size());
  FamilyValues family{Array<double, 2>({scales, std::ssize(values) / scales}), 0.05};
  std::ranges::copy(values, family.values.flat().begin());
  return family;
}

Backtest LoggedAt(double value) {
  Backtest logged;
  logged.logged = value;
  logged.logged_stderr = 0.1;
  return logged;
}

// A policy that is evaluated by the calibrated model.
PolicyEvaluation Calibrated(const std::string& label, const std::vector<double>& values,
                            const std::shared_ptr<const FamilyValues>& logged_family,
                            const Backtest& logged) {
  PolicyEvaluation evaluation;
  evaluation.policy.label = label;
  evaluation.family = PolicyFamily{Family(values), logged_family};
  evaluation.measured.calibrated = CalibrateModel(*logged_family, evaluation.family->own, logged);
  JudgedRow row;
  row.key = ChooseHeadline(evaluation.measured).key;
  row.row.value = evaluation.measured.calibrated->value;
  row.row.standard_error = evaluation.measured.calibrated->standard_error;
  evaluation.rows = {row};
  return evaluation;
}

TEST(PolicyDifferences, ErrorsThatMembersShareCancel) {
  // the members disagree by tens about either value and by tenths about the difference
  const PolicyEvaluation a = OfModel("a", 100.0, {80.0, 100.1, 120.0, 99.9});
  const PolicyEvaluation b = OfModel("b", 98.0, {78.1, 98.0, 117.9, 98.0});
  const auto difference = DifferenceOf(a, b, {}, 0.95);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->method, DifferenceMethod::kMembers);
  EXPECT_DOUBLE_EQ(difference->value, 2.0);
  EXPECT_LT(difference->high - difference->low, 2.0);
  EXPECT_TRUE(difference->tells_apart());
  const auto reverse = DifferenceOf(b, a, {}, 0.95);
  EXPECT_DOUBLE_EQ(reverse->value, -2.0);
  EXPECT_DOUBLE_EQ(reverse->low, -difference->high);
}

TEST(PolicyDifferences, ACalibratedDifferenceIsThatOfTheStatedValues) {
  const Backtest logged = LoggedAt(50.0);
  const auto family = std::make_shared<const FamilyValues>(
      Family({49.0, 51.5, 50.2, 48.0, 50.9, 50.0, 47.5, 50.1, 49.4, 48.8, 50.6, 49.7}));
  const PolicyEvaluation a =
      Calibrated("a", {60.0, 63.1, 61.5, 59.0, 62.4, 61.0, 58.3, 61.2, 60.4, 59.7, 61.9, 60.8},
                 family, logged);
  const PolicyEvaluation b =
      Calibrated("b", {55.1, 58.0, 56.4, 54.0, 57.3, 56.1, 53.2, 56.2, 55.3, 54.8, 56.7, 55.8},
                 family, logged);
  ASSERT_EQ(ChooseHeadline(a.measured).key.kind, RowKind::kCalibrated);
  const auto difference = DifferenceOf(a, b, logged, 0.95);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->method, DifferenceMethod::kCalibrated);
  EXPECT_NEAR(difference->value, *a.stated().value - *b.stated().value, 1e-9);
  EXPECT_TRUE(difference->tells_apart());
  // the policy is not told apart from itself
  EXPECT_FALSE(DifferenceOf(a, a, logged, 0.95)->tells_apart());
}

TEST(PolicyDifferences, OfOtherEstimatesTheErrorIsNoLargerThanBothTogether) {
  PolicyEvaluation a = OfModel("a", 5.0, {}), b = OfModel("b", 3.0, {});
  const auto difference = DifferenceOf(a, b, {}, 0.95);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->method, DifferenceMethod::kBound);
  EXPECT_NEAR(difference->low, 2.0 - 1.96 * 2.0, 0.01);
  b.rows[0].row.value.reset();
  EXPECT_FALSE(DifferenceOf(a, b, {}, 0.95));
}

TEST(PolicyDifferences, TheSentenceAndTheTableNameThePairs) {
  const std::vector<PolicyEvaluation> ranked = {OfModel("a", 9.0, {9.0, 9.2, 8.8}),
                                                OfModel("b", 8.9, {8.7, 9.3, 8.7}),
                                                OfModel("c", 1.0, {1.0, 1.2, 0.8})};
  const auto from_best = DifferencesFromBest(ranked, {}, 0.95);
  EXPECT_FALSE(from_best[0]);
  const std::string text = BestText(ranked, from_best, 0.95);
  EXPECT_THAT(text, HasSubstr("a is ranked best"));
  EXPECT_THAT(text, HasSubstr("from 1 of 2 others: b "));
  const std::string csv = PairsCsv(ranked, {}, 0.95);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 4);
  EXPECT_THAT(csv, HasSubstr("members"));
}

}  // namespace
}  // namespace lfiw::experiments
