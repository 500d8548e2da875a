#include "experiments/presentation/run_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/parallel.h"
#include "core/run/atomic_file.h"
#include "experiments/presentation/versions.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class RunOutputsTest : public ::testing::Test {
 protected:
  RunOutputsTest() : cache_(dir_ / "cache"), directory_(dir_ / "run") {}
  ~RunOutputsTest() override { SetThreads(0); }

  TestDir dir_;
  StageCache cache_;
  RunDirectory directory_;
  ExperimentRun run_{cache_, directory_, Verbosity::kQuiet, "lfiw run a.yaml"};
};

TEST_F(RunOutputsTest, TheManifestTellsCommandSeedLibrariesThreadsAndStages) {
  SetThreads(2);
  cache_.RunStage(
      {.name = "mine", .key = "{}", .inputs = {}, .sources = "", .computed_with = {}},
      [](const std::string& directory) { WriteFileAtomically(directory + "/out.txt", "x"); });
  const Manifest manifest = ManifestOf(run_, 7);
  EXPECT_EQ(manifest.command, "lfiw run a.yaml");
  EXPECT_THAT(manifest.seeds, ElementsAre(Pair("run", 7u)));
  EXPECT_EQ(manifest.libraries, LibraryVersions());
  EXPECT_EQ(manifest.threads, 2);
  EXPECT_THAT(manifest.inputs, IsEmpty());
  ASSERT_THAT(manifest.stages, SizeIs(1));
  EXPECT_EQ(manifest.stages[0].name, "mine");
}

Plot Line() {
  return {.title = "a line", .series = {{.label = "y", .x = {0.0, 1.0}, .y = {1.0, 3.0}}}};
}

TEST_F(RunOutputsTest, AFigureIsKeptUnderItsName) {
  testing::internal::CaptureStderr();
  const std::string svg = DrawPlot(run_, "line", Line());
  // a machine without gnuplot draws none, which the next test is about
  if (!testing::internal::GetCapturedStderr().empty()) GTEST_SKIP() << "no gnuplot";
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_EQ(ReadFile(dir_ / "run/plots/line.svg"), svg);
}

TEST_F(RunOutputsTest, WithoutGnuplotAFigureIsLeftOutAndTheRunGoesOn) {
  const char* path = std::getenv("PATH");
  const std::string saved = path == nullptr ? "" : path;
  setenv("PATH", dir_.path().c_str(), 1);
  testing::internal::CaptureStderr();
  const std::string svg = DrawPlot(run_, "line", Line());
  const std::string said = testing::internal::GetCapturedStderr();
  setenv("PATH", saved.c_str(), 1);
  EXPECT_EQ(svg, "");
  EXPECT_THAT(said, AllOf(HasSubstr("lfiw: the figure is left out: "), HasSubstr("gnuplot")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run/plots/line.svg"));
}

}  // namespace
}  // namespace lfiw::experiments
