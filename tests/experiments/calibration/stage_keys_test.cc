#include "tests/experiments/stage_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/calibration/verdict_calibration.h"

namespace lfiw::experiments {
namespace {

using ::testing::UnorderedElementsAreArray;

using CalibrationStages = StageTypes<VerdictCaseStage>;

TEST(CalibrationStages, DependOnEveryFieldOfTheirKeysAndOnAllElse) {
  CalibrationStages::ExpectKeysAreComplete();
}

TEST(CalibrationStages, AreAllListedHere) {
  EXPECT_THAT(CalibrationStages::Names(),
              UnorderedElementsAreArray(StageNamesBelow("experiments/calibration")));
}

}  // namespace
}  // namespace lfiw::experiments
