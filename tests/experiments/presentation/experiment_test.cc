#include "experiments/presentation/experiment.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

TEST(ReadExperimentKind, IsTheFilesOrTheOverridesElseEvaluation) {
  const TestDir dir;
  const std::string file = dir / "file.yaml";
  WriteFileAtomically(file, "name: x\nexperiment: verdict_calibration\nother: {a: 1}\n");
  EXPECT_EQ(ReadExperimentKind(file, {}), ExperimentKind::kVerdictCalibration);
  EXPECT_EQ(ReadExperimentKind(file, {"experiment=mbope"}), ExperimentKind::kEvaluation);
  EXPECT_EQ(ReadExperimentKind("", {"seed=1"}), ExperimentKind::kEvaluation);
}

TEST(ReadExperimentKind, AnUnknownKindIsAnErrorThatListsThem) {
  try {
    ReadExperimentKind("", {"experiment=mbop"});
    FAIL() << "expected a ConfigError";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("verdict_calibration"), std::string::npos);
  }
}

}  // namespace
}  // namespace lfiw::experiments
