#include "experiments/omniglot/ratio_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/statistics.h"
#include "models/calibration.h"
#include "tests/experiments/omniglot/toy_drawings.h"
#include "tests/models/change_fields.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

DrawingRatioOptions Small(std::int64_t epochs) {
  DrawingRatioOptions options;
  options.folds = 2;
  options.epochs = epochs;
  options.fit.filters = 8;
  options.fit.blocks = 2;
  options.fit.training.device = Device::kCpu;
  return options;
}

ImageBatch Bars(std::int64_t per_class, std::uint64_t seed) {
  return ToyDrawings(per_class, seed).images;
}

double Auc(const CrossFit& weights) {
  std::vector<double> logits = weights.real;
  logits.insert(logits.end(), weights.generated.begin(), weights.generated.end());
  std::vector<std::uint8_t> labels(weights.real.size(), 1);
  labels.resize(logits.size(), 0);
  return MeasureCalibration(logits, labels).auc;
}

TEST(FitRatios, ImagesThatAreNeverRealGetLessWeight) {
  const ImageBatch generated = HalfWrong(60);
  const CrossFit weights = FitRatios(Bars(40, 1), generated, Small(10), 1, {}).weights;
  std::vector<double> right, wrong;
  for (std::size_t i = 0; i < weights.generated.size(); ++i) {
    (i % 2 == 0 ? right : wrong).push_back(weights.generated[i]);
  }
  // the density ratio is 2 where images are right and 0 where they are wrong
  EXPECT_NEAR(Mean(right), std::log(2.0), 0.5);
  EXPECT_LT(Mean(wrong), -2.0);
}

TEST(FitRatios, UnequalNumbersOfTheSameImagesNeedNoCorrection) {
  const CrossFit weights = FitRatios(Bars(30, 1), Bars(120, 2), Small(4), 1, {}).weights;
  EXPECT_NEAR(Mean(weights.generated), 0.0, 0.3);  // log(30 / 120) = -1.4
}

TEST(FitRatios, WhatAClassifierLearnedByHeartDoesNotReachTheWeights) {
  DrawingRatioOptions options = Small(60);
  options.fit.filters = 32;
  options.fit.kept = KeptClassifier::kLast;
  const RatioFit fit = FitRatios(Bars(15, 1), Bars(15, 2), options, 1, {});
  EXPECT_LT(fit.histories[0].Last(0), 0.4) << "it did not learn by heart";
  EXPECT_NEAR(Auc(fit.weights), 0.5, 0.25);  // three standard deviations
}

TEST(FitRatios, TheSeedDealsTheFolds) {
  const auto weights = [](std::uint64_t seed) {
    return FitRatios(Bars(6, 1), Bars(6, 2), Small(1), seed, {}).weights.generated;
  };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
}

TEST(FitRatios, StepsAreWhatTheFoldsTake) {
  const DrawingRatioOptions options = Small(3);
  const RatioFit fit = FitRatios(Bars(15, 1), Bars(50, 2), options, 1, {});
  std::int64_t steps = 0;
  for (const TrainingHistory& history : fit.histories) {
    EXPECT_EQ(std::ssize(history.steps), 3) << "an entry per epoch";
    steps += history.steps.back();
  }
  EXPECT_EQ(RatioSteps(30, 100, options), steps);
}

TEST(FitRatios, ACheckpointOfOtherOptionsIsRefused) {
  DrawingRatioOptions small = Small(1);
  small.fit.filters = 2;
  small.fit.training.device = Device::kAuto;
  const ImageBatch real = Bars(4, 1), generated = Bars(4, 2);
  ExpectEveryFieldCounts(small, [&](const auto& options, const FitRun& run) {
    FitRatios(real, generated, options, 1, run);
  });
}

TEST(FitRatios, FewerThanTwoImagesAFoldAreAnError) {
  DrawingRatioOptions options = Small(1);
  options.folds = 5;
  EXPECT_THAT([&] { FitRatios(Bars(4, 1), Bars(20, 2), options, 1, {}); },
              ThrowsMessage<DataError>(HasSubstr("8 real and 40 generated images, expected at "
                                                 "least two for each of 5 folds")));
}

}  // namespace
}  // namespace lfiw::experiments
