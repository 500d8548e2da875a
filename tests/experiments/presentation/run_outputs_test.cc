#include "experiments/presentation/run_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::Key;

class RunOutputsTest : public testing::Test {
 protected:
  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  RunDirectory directory_{dir_ / "run"};
  ExperimentRun run_{cache_, directory_, Verbosity::kQuiet, "lfiw run example.yaml"};
};

TEST_F(RunOutputsTest, TheManifestTellsCommandSeedStagesAndLibraries) {
  cache_.RunStage({"example", "{}", {}, 1, "", {}}, [](const std::string& folder) {
    WriteFileAtomically(folder + "/out.txt", "result");
  });
  const Manifest manifest = ManifestOf(run_, 17);
  EXPECT_EQ(manifest.command, "lfiw run example.yaml");
  EXPECT_EQ(manifest.seeds.at("run"), 17u);
  ASSERT_EQ(manifest.stages.size(), 1u);
  EXPECT_EQ(manifest.stages[0].name, "example");
  EXPECT_THAT(manifest.libraries, Contains(Key("MuJoCo")));
  EXPECT_GT(manifest.threads, 0);
}

TEST_F(RunOutputsTest, StagesOfAQuietRunHaveASilentProgressAndTheUsualCheckpoints) {
  const StageWork work = run_.Work();
  EXPECT_EQ(work.checkpoint_seconds, 60.0);
  testing::internal::CaptureStderr();
  work.StartProgress("work", 2, "units")->Advance(2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace lfiw::experiments
