#include "experiments/image_gof/classifier_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

// Four images of classes 0, 1, 2, 2; the network takes the last for a 0.
SampleSet LabeledImages() {
  SampleSet set;
  set.images.count = 4;
  set.images.labels = {0, 1, 2, 2};
  set.features.features = MatrixF::Zero(4, 1);
  set.features.logits = MatrixF::Zero(4, 3);
  const std::vector<Eigen::Index> named = {0, 1, 2, 0};
  for (Eigen::Index i = 0; i < 4; ++i) {
    set.features.logits(i, named[static_cast<std::size_t>(i)]) = 1.0f;
  }
  return set;
}

TEST(CheckExtractor, CountsTheImagesWhoseClassIsNamed) {
  const ExtractorCheck check = CheckExtractor("net", LabeledImages());
  EXPECT_DOUBLE_EQ(*check.accuracy, 0.75);
  EXPECT_THAT(ExtractorLine(check), HasSubstr("net: 75.0 % of 4 labeled check images right"));
}

TEST(CheckExtractor, NeedsLabelsOfTheNetworksOwnClasses) {
  SampleSet set = LabeledImages();
  set.images.labels = {};
  EXPECT_EQ(CheckExtractor("net", set).reason, "images without labels");
  set = LabeledImages();
  set.features.logits = MatrixF::Zero(4, 1000);
  const ExtractorCheck check = CheckExtractor("net", set);
  EXPECT_FALSE(check.accuracy);
  EXPECT_THAT(ExtractorLine(check), HasSubstr("labels from 0 to 2 for 1000 logits"));
}

class CheckOnNewImagesTest : public testing::Test {
 protected:
  CheckOnNewImagesTest() {
    GofClassifierOptions options;
    options.folds = 2;
    options.epochs = 40;
    options.fit.network.width = 16;
    fit_ = FitByFolds(NormalRows(600, 2, 1, 1.0f), NormalRows(500, 2, 2), options, 1, {});
  }
  CrossFit fit_;
};

TEST_F(CheckOnNewImagesTest, ImagesLikeTheTrainingOnesGiveWhatCrossFittingGives) {
  const ClassifierCheck check = CheckOnNewImages("m", fit_, NormalRows(400, 2, 3, 1.0f), 1);
  EXPECT_EQ(check.n, 400);
  EXPECT_EQ(check.m, 400);
  // of N(1, I) against N(0, I) in 2 dimensions: Phi(1); 4 standard errors
  EXPECT_NEAR(check.calibration.auc, 0.841, 4.0 * 0.014);
}

TEST_F(CheckOnNewImagesTest, ImagesLikeTheGeneratedOnesAreNotToldApart) {
  const ClassifierCheck check = CheckOnNewImages("m", fit_, NormalRows(400, 2, 3), 1);
  EXPECT_NEAR(check.calibration.auc, 0.5, 4.0 * 0.0205);
}

TEST_F(CheckOnNewImagesTest, MoreImagesThanSamplesTakeAllSamples) {
  const ClassifierCheck check = CheckOnNewImages("m", fit_, NormalRows(800, 2, 3, 1.0f), 1);
  EXPECT_EQ(check.n, 800);
  EXPECT_EQ(check.m, 500);
  EXPECT_THAT(ChecksCsv(std::vector{check}), HasSubstr("\"m\",\"check images\",800,500,0.8"));
}

}  // namespace
}  // namespace lfiw::experiments
