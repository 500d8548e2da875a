#include "experiments/omniglot/omniglot_runs.h"

#include <gtest/gtest.h>

#include "experiments/omniglot/paired_drawings.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/omniglot/toy_drawings.h"

namespace lfiw::experiments {
namespace {

class MeasureRunsTest : public testing::Test {
 protected:
  MeasureRunsTest() {
    config_.ratio.folds = 2;
    config_.ratio.epochs = 1;
    config_.classifier.epochs = 2;
    for (ConvClassifierOptions* fit : {&config_.ratio.fit, &config_.classifier.fit}) {
      fit->filters = 4;
      fit->blocks = 2;
      fit->training.batch = 8;
      fit->training.device = Device::kCpu;
    }
    config_.runs = 3;
    for (const std::uint64_t seed : {5, 6}) {
      GeneratedDrawings& generated = generated_.emplace_back();
      generated.images = HalfWrong(12, seed);
      generated.hash = std::to_string(seed);
    }
  }

  std::vector<OmniglotRun> Measure() {
    return MeasureRuns(config_, drawings_, generated_, {cache_, directory_, Verbosity::kQuiet, ""});
  }

  OmniglotConfig config_;
  SplitDrawings drawings_ = ToySplit();
  std::vector<GeneratedDrawings> generated_;
  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  RunDirectory directory_{dir_ / "run"};
};

TEST_F(MeasureRunsTest, RunsHaveSeedsOfTheirOwnAndGeneratorsInTurn) {
  const std::vector<OmniglotRun> runs = Measure();
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].generator, 0);
  EXPECT_EQ(runs[1].generator, 1);
  EXPECT_EQ(runs[2].generator, 0);
  EXPECT_NE(runs[0].seed, runs[2].seed);
  EXPECT_NE(runs[0].ratios.weights.generated, runs[2].ratios.weights.generated);
}

TEST_F(MeasureRunsTest, StagesGiveWhatTheirPartsGiveAlone) {
  const std::vector<OmniglotRun> runs = Measure();
  const OmniglotRun& run = runs[1];
  const RatioFit ratios = FitRatios(PairedRealDrawings(drawings_),
                                    PairedGeneratedDrawings(drawings_, generated_[1].images),
                                    config_.ratio, run.seed, {});
  EXPECT_EQ(run.ratios.weights.generated, ratios.weights.generated);
  EXPECT_EQ(run.ratios.histories, ratios.histories);
  const AugmentationData data{drawings_, generated_[1].images, ratios.weights.generated};
  for (const TrainingData column : kAllTrainingData) {
    const ColumnOptions options =
        OptionsOf(column, drawings_.train.size(), generated_[1].images.count, config_.classifier);
    const AugmentedFit fit =
        TrainAugmented(data, options, run.seed, FitJob::Of({}, "alone", "1", ""));
    const AugmentedFit& staged = run.columns[static_cast<std::size_t>(column)];
    EXPECT_EQ(staged.test_accuracy, fit.test_accuracy) << EnumName(column);
    EXPECT_EQ(staged.history, fit.history) << EnumName(column);
  }
}

TEST_F(MeasureRunsTest, OtherGeneratedDrawingsLeaveTheRealColumnAlone) {
  Measure();
  const std::size_t before = cache_.records().size();
  for (GeneratedDrawings& generated : generated_) generated.hash += "other";
  Measure();
  const std::vector<StageRecord> records = cache_.records();
  std::int64_t reused = 0;
  for (std::size_t i = before; i < records.size(); ++i) {
    if (records[i].outcome == StageOutcome::kReused) ++reused;
  }
  EXPECT_EQ(reused, 3) << "D_cl of three runs";
}

}  // namespace
}  // namespace lfiw::experiments
