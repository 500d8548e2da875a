#include "experiments/omniglot/generated_drawings.h"

#include <gtest/gtest.h>

#include "core/images/png.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/omniglot/toy_drawings.h"

namespace lfiw::experiments {
namespace {

class DrawWithGeneratorTest : public testing::Test {
 protected:
  DrawWithGeneratorTest() {
    config_.dagan.widths = {3, 4};
    config_.dagan.generator_inner = config_.dagan.critic_inner = 0;
    config_.dagan.critic_steps = 1;
    config_.dagan.training = {
        .steps = 4, .batch = 4, .report_every = 2, .device = Device::kCpu, .adam = {}};
    config_.generated_per_class = 7;
  }

  GeneratedDrawings Draw(const SplitDrawings& drawings, std::int64_t generator = 0) {
    return DrawWithGenerator(config_, drawings, generator,
                             {cache_, directory_, Verbosity::kQuiet, ""});
  }

  OmniglotConfig config_;
  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  RunDirectory directory_{dir_ / "run"};
};

TEST_F(DrawWithGeneratorTest, MakesSoManyOfEveryClass) {
  const GeneratedDrawings generated = Draw(ToySplit());
  EXPECT_EQ(generated.images.count, 14);
  EXPECT_EQ(generated.images.height, kDrawingSide);
  for (std::int64_t i = 0; i < 14; ++i) {
    EXPECT_EQ(generated.images.labels[static_cast<std::size_t>(i)], i / 7);
  }
  EXPECT_EQ(generated.history.steps, (std::vector<std::int64_t>{2, 4}));
}

// Two drawings of each class, each used twice.
TEST(DiversityOf, ComparesWhatIsMadeFromOneDrawingWithRealOnesOfAClass) {
  const SplitDrawings drawings = ToySplit(2);
  ImageBatch generated = NoImages();
  for (const std::int64_t condition : ConditionsOf(drawings, 4)) {
    AppendImages(TakeImages(drawings.images, std::vector<std::int64_t>{condition}), generated);
  }
  EXPECT_EQ(DiversityOf(generated, drawings), 0.0) << "copies";
  // the second use of each drawing gets the other one of its class in its place
  const std::vector<std::int64_t> swapped = {0, 1, 3, 2, 4, 5, 7, 6};
  EXPECT_EQ(DiversityOf(TakeImages(generated, swapped), drawings), 1.0);
  EXPECT_FALSE(DiversityOf(TakeImages(generated, std::vector<std::int64_t>{0, 1, 4, 5}), drawings))
      << "each was used once";
}

TEST_F(DrawWithGeneratorTest, ShowsWhatItDrawsInTheRunDirectory) {
  const GeneratedDrawings generated = Draw(ToySplit());
  const ImageBatch grid = ReadPng(directory_.File("plots/dagan_0.png"));
  EXPECT_EQ(grid.width, 10 * (kDrawingSide + 1) - 1);
  EXPECT_EQ(grid.height, 2 * (kDrawingSide + 1) - 1) << "a row for each class";
  EXPECT_EQ(DecodePng(generated.samples, "samples").pixels, grid.pixels);
}

TEST_F(DrawWithGeneratorTest, DependsOnTheTrainingDrawingsAlone) {
  SplitDrawings drawings = ToySplit();
  const std::string hash = Draw(drawings).hash;
  drawings.test.rows.pop_back();
  drawings.test.labels.pop_back();
  EXPECT_EQ(Draw(drawings).hash, hash);
  EXPECT_EQ(cache_.records().back().outcome, StageOutcome::kReused);
  EXPECT_NE(Draw(ToySplit(19)).hash, hash);
}

TEST_F(DrawWithGeneratorTest, GeneratorsDiffer) {
  EXPECT_NE(Draw(ToySplit(), 0).hash, Draw(ToySplit(), 1).hash);
}

TEST_F(DrawWithGeneratorTest, MoreDrawingsDoNotTrainTheGeneratorAgain) {
  Draw(ToySplit());
  config_.generated_per_class = 9;
  EXPECT_EQ(Draw(ToySplit()).images.count, 18);
  EXPECT_EQ(cache_.records()[2].name, "omniglot_dagan");
  EXPECT_EQ(cache_.records()[2].outcome, StageOutcome::kReused);
}

}  // namespace
}  // namespace lfiw::experiments
