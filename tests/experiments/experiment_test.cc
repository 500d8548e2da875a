#include "experiments/experiment.h"

#include <gtest/gtest.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw {
namespace {

TEST(ReadExperimentKind, IsTheFilesOrTheOverridesElseMbope) {
  const TestDir dir;
  const std::string file = dir / "file.yaml";
  WriteFileAtomically(file, "name: x\nexperiment: verdict_calibration\nother: {a: 1}\n");
  EXPECT_EQ(ReadExperimentKind(file, {}), ExperimentKind::kVerdictCalibration);
  EXPECT_EQ(ReadExperimentKind(file, {"experiment=mbope"}), ExperimentKind::kMbope);
  EXPECT_EQ(ReadExperimentKind("", {"seed=1"}), ExperimentKind::kMbope);
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
}  // namespace lfiw
