#include "experiments/cli/experiment_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

// Plans to print the configuration of a kind.
RunPlan DryRunOf(std::string_view kind) {
  RunPlan plan;
  plan.overrides = {"experiment=" + std::string(kind)};
  plan.dry_run = true;
  return plan;
}

// The screen's text of a plan.
std::string ScreenOf(const RunPlan& plan) {
  const Outcome outcome = RunExperiment(plan);
  EXPECT_EQ(outcome.status, 0);
  return outcome.text;
}

TEST(RunExperiment, PrintsTheConfigurationOfTheKindThatIsNamed) {
  for (const std::string_view kind : {"mbope", "bench", "verdict_calibration"}) {
    EXPECT_THAT(ScreenOf(DryRunOf(kind)), testing::HasSubstr("experiment: " + std::string(kind)));
  }
}

TEST(RunExperiment, KnowsEveryKindInAProgramWithImages) {
  if (ImageExperiments().empty()) GTEST_SKIP() << "built without images";
  for (const std::string_view kind : EnumNames(ExperimentKind{})) {
    EXPECT_THAT(ScreenOf(DryRunOf(kind)), testing::HasSubstr("experiment: " + std::string(kind)));
  }
}

TEST(RunExperiment, RefusesAKindOnImagesInAProgramWithoutThem) {
  if (!ImageExperiments().empty()) GTEST_SKIP() << "built with images";
  for (const std::string_view kind : {"toy_gaussian", "gof", "gof_table", "omniglot"}) {
    try {
      RunExperiment(DryRunOf(kind));
      FAIL() << "expected a ConfigError";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(std::string(kind) + " is on images"));
      EXPECT_THAT(error.what(), testing::HasSubstr("-DLFIW_IMAGES=ON"));
    }
  }
}

}  // namespace
}  // namespace lfiw::experiments
