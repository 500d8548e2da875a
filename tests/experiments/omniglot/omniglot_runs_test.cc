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
    for (std::size_t place = 0; place < run.Column(column).tried.size(); ++place) {
      const ColumnOptions options =
          OptionsOf(column, config_.classifier.tempered[place], drawings_.train.size(),
                    generated_[1].images.count, config_.classifier);
      const AugmentedFit fit =
          TrainAugmented(data, options, run.seed, FitJob::Of({}, "alone", "1", ""));
      const AugmentedFit& staged = run.Column(column).tried[place];
      EXPECT_EQ(staged.test_accuracy, fit.test_accuracy) << EnumName(column) << place;
      EXPECT_EQ(staged.history, fit.history) << EnumName(column) << place;
    }
  }
}

TEST_F(MeasureRunsTest, ColumnsWithWeightsTryEveryShareAndAllOfAGeneratorTakeTheSame) {
  const std::vector<OmniglotRun> runs = Measure();
  for (const OmniglotRun& run : runs) {
    for (const TrainingData data : kAllTrainingData) {
      const ColumnFits& column = run.Column(data);
      EXPECT_EQ(column.tried.size(), UsesWeights(data) ? 3u : 1u) << EnumName(data);
      EXPECT_EQ(column.chosen, BestOnValidation(runs, data, run.generator)) << EnumName(data);
    }
  }
  EXPECT_EQ(runs[0].Column(TrainingData::kWeighted).chosen,
            runs[2].Column(TrainingData::kWeighted).chosen)
      << "both have generator 0";
}

TEST_F(MeasureRunsTest, GivenExponentsAreTrainedOnce) {
  config_.classifier.tempered.clear();
  EXPECT_EQ(Measure()[0].Column(TrainingData::kWeighted).tried.size(), 1u);
}

// Runs of generators 0 and 1 in turn whose column D_g w/ LFIW has these validation accuracies.
std::vector<OmniglotRun> RunsWith(const std::vector<std::vector<double>>& accuracies) {
  std::vector<OmniglotRun> runs;
  for (const std::vector<double>& tried : accuracies) {
    OmniglotRun& run = runs.emplace_back();
    run.generator = std::ssize(runs) % 2 == 1 ? 0 : 1;
    for (const double accuracy : tried) {
      run.columns[static_cast<std::size_t>(TrainingData::kWeighted)].tried.push_back(
          {.test_accuracy = 1.0 - accuracy, .validation_accuracy = accuracy, .history = {}});
    }
  }
  return runs;
}

TEST(BestOnValidation, IsOfTheMeanOverTheGeneratorsRunsAndNotOfTheTestAccuracy) {
  const auto runs = RunsWith({{0.5, 0.6, 0.1}, {0.9, 0.1, 0.1}, {0.6, 0.3, 0.9}});
  EXPECT_EQ(BestOnValidation(runs, TrainingData::kWeighted, 0), 0u);
  EXPECT_EQ(BestOnValidation(runs, TrainingData::kWeighted, 1), 0u);
  const auto others = RunsWith({{0.5, 0.6, 0.1}, {0.1, 0.1, 0.2}, {0.5, 0.5, 0.9}});
  EXPECT_EQ(BestOnValidation(others, TrainingData::kWeighted, 0), 1u);
  EXPECT_EQ(BestOnValidation(others, TrainingData::kWeighted, 1), 2u);
}

TEST(BestOnValidation, TakesTheFirstOfEquals) {
  EXPECT_EQ(BestOnValidation(RunsWith({{0.5, 0.7, 0.7}}), TrainingData::kWeighted, 0), 1u);
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
