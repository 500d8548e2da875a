#include "experiments/omniglot/augmented_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/config/config.h"
#include "experiments/omniglot/ratio_weights.h"
#include "tests/experiments/omniglot/toy_drawings.h"

namespace lfiw::experiments {
namespace {

AugmentedOptions Small(std::int64_t epochs) {
  AugmentedOptions options;
  options.epochs = epochs;
  options.fit.filters = 4;
  options.fit.blocks = 2;
  options.fit.training.batch = 16;
  options.fit.training.device = Device::kCpu;
  return options;
}

// Weights are worth a fifth of the drawings, unless another share is given.
AugmentedFit Train(const AugmentationData& data, TrainingData column,
                   const AugmentedOptions& options, double tempered = 0.2) {
  return TrainAugmented(
      data, OptionsOf(column, tempered, data.drawings.train.size(), data.generated.count, options),
      3, FitJob::Of({}, "test", "1", ""));
}

TEST(TrainAugmented, WeightsHelpWhereHalfOfTheGeneratedImagesAreWrong) {
  const SplitDrawings drawings = ToySplit();
  const ImageBatch generated = HalfWrong(60);
  DrawingRatioOptions ratio;
  ratio.epochs = 10;
  ratio.fit.filters = 8;
  ratio.fit.blocks = 2;
  ratio.fit.training.device = Device::kCpu;
  const ImageBatch real = TakeImages(drawings.images, drawings.train.rows);
  const AugmentationData data{drawings, generated,
                              FitRatios(real, generated, ratio, 1, {}).weights.generated};
  AugmentedOptions options = Small(16);
  options.fit.filters = 16;
  const double unweighted = Train(data, TrainingData::kGenerated, options).test_accuracy;
  const double weighted = Train(data, TrainingData::kWeighted, options).test_accuracy;
  EXPECT_GT(weighted, 0.85);
  EXPECT_LT(unweighted, 0.7) << "as good as a coin";
  EXPECT_GT(Train(data, TrainingData::kMixedWeighted, options).test_accuracy,
            Train(data, TrainingData::kMixed, options).test_accuracy);
}

TEST(TrainAugmented, UniformWeightsGiveTheVeryNumbersOfNone) {
  const SplitDrawings drawings = ToySplit();
  const ImageBatch generated = HalfWrong(30);
  const AugmentationData data{drawings, generated, std::vector<double>(60, -0.7)};
  for (const BatchWeights scale : {BatchWeights::kRaw, BatchWeights::kSelfNormalized}) {
    AugmentedOptions options = Small(3);
    options.fit.weights = scale;
    options.alpha = 0.0;
    for (const auto& [with, without] :
         {std::pair(TrainingData::kWeighted, TrainingData::kGenerated),
          std::pair(TrainingData::kMixedWeighted, TrainingData::kMixed)}) {
      const AugmentedFit none = Train(data, without, options);
      for (const double tempered : {0.0, 1.0}) {
        const AugmentedFit fit = Train(data, with, options, tempered);
        EXPECT_EQ(fit.history, none.history);
        EXPECT_EQ(fit.test_accuracy, none.test_accuracy);
      }
    }
  }
}

TEST(TrainAugmented, WeightsOfAnyScaleTrainAlikeWhenTheirSumIsDividedOut) {
  const SplitDrawings drawings = ToySplit();
  const ImageBatch generated = HalfWrong(30);
  std::vector<double> log_weights;
  for (int i = 0; i < 60; ++i) log_weights.push_back(i % 2 == 0 ? -500.0 : -503.0);
  std::vector<double> shifted = log_weights;
  for (double& weight : shifted) weight += 500.0;
  const AugmentedFit tiny =
      Train({drawings, generated, log_weights}, TrainingData::kWeighted, Small(2));
  const AugmentedFit usual =
      Train({drawings, generated, shifted}, TrainingData::kWeighted, Small(2));
  EXPECT_EQ(tiny.history, usual.history);
}

TEST(TrainAugmented, TestsTheParametersOfBestValidationAccuracy) {
  const SplitDrawings drawings = ToySplit();
  const ImageBatch generated = HalfWrong(20);
  const AugmentationData data{drawings, generated, {}};
  const AugmentedFit fit = Train(data, TrainingData::kReal, Small(6));
  double best = 0.0;
  for (std::int64_t e = 0; e < std::ssize(fit.history.steps); ++e) {
    best = std::max(best, fit.history.Value(e, kValidationAccuracy));
  }
  EXPECT_EQ(fit.validation_accuracy, best);
  EXPECT_EQ(fit.history.names[kValidationAccuracy], "held_out_accuracy");
}

TEST(OptionsOf, EpochsAreOfTheLargerSetWhateverTheColumn) {
  const AugmentedOptions options = Small(5);
  for (const TrainingData data : kAllTrainingData) {
    EXPECT_EQ(OptionsOf(data, 0.2, 40, 100, options).fit.training.steps, 5 * 7);
    EXPECT_EQ(OptionsOf(data, 0.2, 100, 40, options).fit.training.report_every, 7);
  }
}

TEST(OptionsOf, WhatAColumnDoesNotUseLeavesItsOptionsAsTheyAre) {
  AugmentedOptions options = Small(1), other = options;
  other.fit.weights = BatchWeights::kRaw;
  other.alpha = 0.5;
  other.mixture_weight = 0.25;
  for (const TrainingData data : {TrainingData::kReal, TrainingData::kGenerated}) {
    EXPECT_EQ(CanonicalText(OptionsOf(data, 0.2, 10, 10, options)),
              CanonicalText(OptionsOf(data, 0.5, 10, 10, other)));
  }
  const ColumnOptions mixed = OptionsOf(TrainingData::kMixed, 0.5, 10, 10, other);
  EXPECT_EQ(mixed.mixture_weight, 0.25);
  EXPECT_FALSE(mixed.alpha);
  EXPECT_FALSE(mixed.tempered);
  EXPECT_EQ(mixed.fit.weights, BatchWeights::kSelfNormalized);
  const ColumnOptions weighted = OptionsOf(TrainingData::kWeighted, 0.5, 10, 10, other);
  EXPECT_FALSE(weighted.mixture_weight);
  EXPECT_EQ(weighted.alpha, 0.5);
  EXPECT_EQ(weighted.tempered, 0.5);
  EXPECT_EQ(weighted.fit.weights, BatchWeights::kRaw);
}

}  // namespace
}  // namespace lfiw::experiments
