#include "experiments/calibration/verdict_case_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/test_dir.h"
#include "tests/experiments/calibration/tiny_verdict_calibration.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

TEST(RunVerdictCase, HasAnEstimateWithAllEvidenceThatEvaluateHas) {
  const TestDir dir;
  const VerdictCase c = DrawCase(CaseKind::kGood, PlantedFailure::kNone, 1, 0);
  const CaseOutcome outcome = RunVerdictCase(TinyVerdictCalibration(), c, 3, dir.path()).rollouts;
  ASSERT_TRUE(outcome.value);
  EXPECT_EQ(outcome.truth, c.Truth());
  EXPECT_EQ(outcome.estimator, "calibrated_model");
  EXPECT_EQ(outcome.interval_method, "members");
  EXPECT_GT(outcome.spread, 0.0);
  EXPECT_TRUE(outcome.evidence.support);
  EXPECT_TRUE(outcome.evidence.disagreement);
  EXPECT_EQ(outcome.evidence.reach, 1.0);
}

TEST(RunVerdictCase, TheDoublyRobustIntervalIsWidenedByWhatItsWeightsLeave) {
  const TestDir dir;
  const VerdictCase c = DrawCase(CaseKind::kWrongDynamics, PlantedFailure::kOtherSystem, 1, 0);
  VerdictCalibrationConfig config = TinyDoublyRobustCalibration();
  config.doubly_robust.choice.powers = {0.5};  // weights at full power leave nothing
  const CaseOutcomes outcomes = RunVerdictCase(config, c, 3, dir.path());
  ASSERT_TRUE(outcomes.doubly_robust);
  const CaseOutcome& outcome = *outcomes.doubly_robust;
  EXPECT_EQ(outcome.estimator, "dr_lfiw");
  EXPECT_EQ(outcome.interval_method, "correction");
  const double correction = *outcome.value - *outcome.evidence.uncorrected;
  EXPECT_GT(std::abs(correction), 0.0);
  EXPECT_GT(*outcome.plain_low, *outcome.ci_low);
  EXPECT_LT(*outcome.plain_high, *outcome.ci_high);
  EXPECT_NE(outcomes.rollouts.estimator, "dr_lfiw");
}

TEST(RunVerdictCase, TooFewEpisodesForTheDoublyRobustEstimateAreARefusalAndNoError) {
  const TestDir dir;
  VerdictCalibrationConfig config = TinyDoublyRobustCalibration();
  config.doubly_robust.model.folds = 25;
  const VerdictCase c = DrawCase(CaseKind::kGood, PlantedFailure::kNone, 1, 0);
  const CaseOutcomes outcomes = RunVerdictCase(config, c, 3, dir.path());
  EXPECT_TRUE(outcomes.rollouts.value);
  EXPECT_FALSE(outcomes.doubly_robust->value);
  EXPECT_THAT(outcomes.doubly_robust->evidence.missing_value,
              HasSubstr("40 logged episodes are too few"));
}

TEST(RunVerdictCase, DegenerateWeightsAreJudgedAtTheWholeHorizon) {
  const TestDir dir;
  const VerdictCase c = DrawCase(CaseKind::kLongHorizon, PlantedFailure::kDegenerateWeights, 1, 0);
  const CaseOutcome outcome = RunVerdictCase(TinyVerdictCalibration(), c, 3, dir.path()).rollouts;
  EXPECT_EQ(outcome.estimator, "lfiw_trajectory");
  EXPECT_EQ(outcome.horizon, c.horizon);
}

TEST(RunVerdictCase, AHorizonBeyondTheLogHasNoBacktestAndSaysHowFarItReaches) {
  const TestDir dir;
  const VerdictCase c = DrawCase(CaseKind::kLongHorizon, PlantedFailure::kBeyondLog, 1, 0);
  const CaseOutcome outcome = RunVerdictCase(TinyVerdictCalibration(), c, 3, dir.path()).rollouts;
  EXPECT_FALSE(outcome.evidence.back_test);
  EXPECT_GE(*outcome.evidence.reach, 8.0);
}

}  // namespace
}  // namespace lfiw::experiments
