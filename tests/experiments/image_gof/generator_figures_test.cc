#include "experiments/image_gof/generator_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/images/png.h"
#include "core/run/stage_cache.h"
#include "tests/core/test_dir.h"
#include "tests/models/image/test_images.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrainingHistory History() {
  return {.names = {"train_loss", "held_out"}, .steps = {10, 20}, .values = {3.0, 4.0, 1.0, 2.0}};
}

TEST(LearningPlot, HasALineForEveryFigure) {
  const Plot plot = LearningPlot("m", History());
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[0].label, "train loss");
  EXPECT_THAT(plot.series[1].x, ElementsAre(10.0, 20.0));
  EXPECT_THAT(plot.series[1].y, ElementsAre(4.0, 2.0));
}

TEST(TrainingLine, SaysHowTrainingEnded) {
  EXPECT_EQ(TrainingLine(History()), "Trained for 20 steps; at the end train loss 1, held out 2.");
  EXPECT_EQ(TrainingLine({}), "");
}

TEST(DrawSamples, ShowsUpTo64OfThem) {
  const TestDir dir;
  StageCache cache(dir / "cache");
  RunDirectory directory(dir / "run");
  const ExperimentRun run{cache, directory, Verbosity::kQuiet, ""};
  EXPECT_THAT(DrawSamples(run, "all", NoiseImages(100, 4, 3), 1), HasSubstr("<svg"));
  EXPECT_EQ(ReadPng(dir / "run/plots/all.png").width, 8 * 5 - 1);
  DrawSamples(run, "few", NoiseImages(3, 4, 3), 1);
  EXPECT_EQ(ReadPng(dir / "run/plots/few.png").height, 4);
  EXPECT_EQ(DrawSamples(run, "none", {}, 1), "");
}

}  // namespace
}  // namespace lfiw::experiments
