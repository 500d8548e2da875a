#include "experiments/calibration/verdict_calibration_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config.h"
#include "core/error.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(VerdictCalibrationConfig, LimitsOfTheVerdictAreReadByTheirNames) {
  const auto config = LoadConfig<VerdictCalibrationConfig>(
      "", {"verdict.auc.refuse=0.95", "verdict.reach.caution=1"});
  EXPECT_EQ(config.verdict.auc.refuse, 0.95);
  EXPECT_EQ(config.verdict.auc.caution, VerdictOptions().auc.caution);
  EXPECT_EQ(config.verdict.reach.caution, 1.0);
}

TEST(VerdictCalibrationConfig, ALimitThatNoMeasureCanReachIsAnError) {
  EXPECT_THAT([] { LoadConfig<VerdictCalibrationConfig>("", {"verdict.auc.refuse=1.5"}); },
              ThrowsMessage<ConfigError>(HasSubstr("verdict.auc.refuse")));
}

TEST(VerdictCalibrationConfig, FitsAreThoseOfTheRobustPresetInSmallerNetworks) {
  const VerdictCalibrationConfig config;
  const EvaluationConfig robust = DefaultsOf(Preset::kRobust);
  EXPECT_EQ(config.dynamics.members, robust.dynamics.members);
  EXPECT_LT(config.dynamics.network.width, robust.dynamics.network.width);
}

}  // namespace
}  // namespace lfiw::experiments
