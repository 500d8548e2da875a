#include "experiments/image_gof/fitted_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/run/stage_cache.h"
#include "ope/rollouts/log_weights.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class FitWeightsTest : public testing::Test {
 protected:
  FitWeightsTest() {
    options_.folds = 3;
    options_.epochs = 2;
    options_.fit.network.width = 8;
  }

  FittedWeights Fit() {
    return FitWeights(options_, 4, real_, generated_, {"real", "generated"},
                      {cache_, directory_, Verbosity::kQuiet, ""});
  }

  SmoothedWeights Smooth(const SmoothingOptions& smoothing, const FittedWeights& plain) {
    return FitSmoothedWeights(smoothing, options_, 4, real_, generated_, {"real", "generated"},
                              plain, {cache_, directory_, Verbosity::kQuiet, ""});
  }

  GofClassifierOptions options_;
  MatrixF real_ = NormalRows(60, 3, 1), generated_ = NormalRows(90, 3, 2, 0.5f);
  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  RunDirectory directory_{dir_ / "run"};
};

TEST_F(FitWeightsTest, AStageKeepsWhatCrossFittingGives) {
  const FittedWeights kept = Fit();
  const CrossFit fit = FitByFolds(real_, generated_, options_, 4, {});
  EXPECT_EQ(kept.fit.real, fit.real);
  EXPECT_EQ(kept.fit.generated, fit.generated);
  ASSERT_THAT(kept.histories, SizeIs(3));
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(kept.histories[k], fit.fits[k].history);
  EXPECT_EQ(AveragedLogWeights(kept.fit.classifiers, real_),
            AveragedLogWeights(fit.classifiers, real_));
}

TEST_F(FitWeightsTest, ASecondRunReadsTheSame) {
  const FittedWeights first = Fit(), second = Fit();
  EXPECT_EQ(cache_.records().back().outcome, StageOutcome::kReused);
  EXPECT_EQ(second.fit.generated, first.fit.generated);
  EXPECT_EQ(second.histories, first.histories);
  EXPECT_EQ(second.hash, first.hash);
}

TEST_F(FitWeightsTest, WeightsThatAreWorthEnoughAreNotSmoothed) {
  const FittedWeights plain = Fit();
  const SmoothedWeights same = Smooth({.noise = 1.0, .share = 0.001}, plain);
  EXPECT_EQ(same.noise, 0.0);
  EXPECT_EQ(same.generated, plain.fit.generated);
  EXPECT_EQ(same.hash, plain.hash);
  EXPECT_THAT(Smooth({.noise = 0.0, .share = 1.0}, plain).generated, IsEmpty());
}

TEST_F(FitWeightsTest, NoiseMakesWeightsWorthMore) {
  generated_ = NormalRows(90, 3, 2, 1.0f);  // exact weights would be worth 5 %
  options_.epochs = 400;
  const FittedWeights plain = Fit();
  const double ess = Summarize(plain.fit.generated).ess;
  ASSERT_LT(ess, 0.5 * 90);
  const SmoothedWeights smoothed = Smooth({.noise = 20.0, .share = 0.5}, plain);
  EXPECT_EQ(smoothed.noise, 20.0) << "so much hides all differences";
  EXPECT_GT(Summarize(smoothed.generated).ess, 0.5 * 90);
  EXPECT_NE(smoothed.hash, plain.hash);
}

TEST(FoldLines, NameTheFoldOfEachEntry) {
  const std::vector<FitHistory> folds = {
      {.steps = {5}, .train_loss = {0.5}, .validation_loss = {0.25}},
      {.steps = {6}, .train_loss = {0.5}, .validation_loss = {0.75}}};
  EXPECT_EQ(FoldLines(folds, "classifier"),
            R"({"series":"classifier fold 0","step":5,"train_loss":0.5,"validation_loss":0.25})"
            "\n"
            R"({"series":"classifier fold 1","step":6,"train_loss":0.5,"validation_loss":0.75})"
            "\n");
}

}  // namespace
}  // namespace lfiw::experiments
