#include "ope/rollouts/calibrated_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace lfiw::ope {
namespace {

FamilyValues Family(std::initializer_list<double> values, std::int64_t members) {
  FamilyValues family{
      Array<double, 2>({static_cast<std::int64_t>(values.size()) / members, members}), 0.0};
  std::copy(values.begin(), values.end(), family.values.flat().begin());
  return family;
}

Backtest LogOf(double value, double error) {
  Backtest log;
  log.logged = value;
  log.logged_stderr = error;
  log.spread = 10.0 * error;
  return log;
}

TEST(CalibrateModel, AnErrorThatModelsMakeForBothPoliciesCancels) {
  // every model is off by the same for both policies, which are worth 10 and 15
  const FamilyValues logged = Family({11.0, 12.0, 13.0, 9.0}, 2);
  const FamilyValues evaluated = Family({16.0, 17.0, 18.0, 14.0}, 2);
  const CalibratedModel model = CalibrateModel(logged, evaluated, LogOf(10.0, 0.0));
  EXPECT_DOUBLE_EQ(model.slope, 1.0);
  EXPECT_NEAR(model.value, 15.0, 1e-12);
  EXPECT_NEAR(model.standard_error, 0.0, 1e-6);
  EXPECT_EQ(model.outside, 0.0);
  EXPECT_EQ(model.degrees, 1.0);
}

TEST(CalibrateModel, WhatHasNothingInCommonStaysAtItsMeanWithTheSpreadOfTheFamily) {
  const FamilyValues logged = Family({9.0, 11.0, 9.0, 11.0}, 2);
  const FamilyValues evaluated = Family({14.0, 14.0, 16.0, 16.0}, 2);
  const CalibratedModel model = CalibrateModel(logged, evaluated, LogOf(10.5, 0.1));
  EXPECT_NEAR(model.slope, 0.0, 1e-12);
  EXPECT_NEAR(model.value, 15.0, 1e-12);
  // of one model, of all alike, and of the mean of four
  EXPECT_NEAR(model.standard_error, std::sqrt(4.0 / 3.0 * 2.25), 1e-9);
}

TEST(CalibrateModel, ANoisyLogMovesLess) {
  const FamilyValues logged = Family({9.0, 11.0, 9.0, 11.0}, 2);
  const FamilyValues evaluated = Family({14.0, 16.0, 14.0, 16.0}, 2);
  const double exact = CalibrateModel(logged, evaluated, LogOf(11.0, 0.0)).value;
  const double noisy = CalibrateModel(logged, evaluated, LogOf(11.0, 2.0)).value;
  EXPECT_NEAR(exact, 16.0, 1e-12);
  EXPECT_NEAR(noisy, 15.0 + 1.0 * (4.0 / 3.0) / (4.0 / 3.0 + 4.0), 1e-12);
}

TEST(CalibrateModel, ALoggedValueOutsideOfTheFamilyIsAnExtrapolation) {
  const FamilyValues logged = Family({11.0, 12.0, 13.0, 12.0}, 2);
  const FamilyValues evaluated = Family({16.0, 17.0, 18.0, 17.0}, 2);
  const CalibratedModel model = CalibrateModel(logged, evaluated, LogOf(8.0, 0.0));
  EXPECT_NEAR(model.outside, 3.0, 1e-12);
  EXPECT_NEAR(model.value, 13.0, 1e-9);
  EXPECT_NEAR(model.standard_error, 3.0, 1e-6);
}

TEST(CalibrateModel, OneMemberCannotDisagree) {
  EXPECT_THROW(CalibrateModel(Family({1.0, 2.0}, 1), Family({1.0, 2.0}, 1), LogOf(1.0, 0.1)),
               DataError);
}

}  // namespace
}  // namespace lfiw::ope
