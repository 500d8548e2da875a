#include "experiments/image_gof/sample_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/image_files.h"
#include "core/run/stage_cache.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/image_gof/feature_samples.h"
#include "tests/models/image/test_images.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class ReadPairTest : public testing::Test {
 protected:
  // A file of n rows of features and logits.
  std::string Features(const std::string& name, std::int64_t n, std::int64_t d) {
    NpzFile file;
    file.Put("features", NormalRows(n, d, 1));
    file.Put("logits", NormalRows(n, 3, 2));
    file.Write(dir_ / name);
    return dir_ / name;
  }

  SamplePair Read(const std::vector<std::string>& real, const std::vector<std::string>& generated,
                  const std::string& features = "") {
    return ReadPair(real, generated, features, {cache_, directory_, Verbosity::kQuiet, ""});
  }

  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  RunDirectory directory_{dir_ / "run"};
};

TEST_F(ReadPairTest, FeaturesAreTakenAsTheyAreAndPutTogether) {
  const std::string a = Features("a.npz", 30, 5), b = Features("b.npz", 20, 5);
  const SamplePair pair = Read({a, b}, {b});
  EXPECT_EQ(pair.real.size(), 50);
  EXPECT_EQ(pair.real.features.features.bottomRows(20), pair.generated.features.features);
  EXPECT_EQ(pair.real.features.logits.cols(), 3);
  EXPECT_EQ(pair.extractor, "features as given");
  EXPECT_NE(pair.real.hash, pair.generated.hash);
}

TEST_F(ReadPairTest, LabelsAreKeptWhereEveryFileHasThem) {
  ImageBatch images = NoiseImages(2, 4, 3);
  WriteImages(images, dir_ / "plain.npz");
  images.labels = {4, 5};
  WriteImages(images, dir_ / "labeled.npz");
  EXPECT_EQ(ReadSamples({dir_ / "labeled.npz", dir_ / "labeled.npz"}).images.labels,
            std::vector<std::int64_t>({4, 5, 4, 5}));
  EXPECT_TRUE(ReadSamples({dir_ / "plain.npz", dir_ / "labeled.npz"}).images.labels.empty());
  EXPECT_TRUE(ReadSamples({dir_ / "labeled.npz", dir_ / "plain.npz"}).images.labels.empty());
}

TEST_F(ReadPairTest, ImagesWithoutANetworkAskForOne) {
  WriteImages(NoiseImages(30, 4, 3), dir_ / "images.npz");
  EXPECT_THAT([&] { Read({dir_ / "images.npz"}, {Features("a.npz", 30, 5)}); },
              ThrowsMessage<ConfigError>(HasSubstr("--features FILE")));
}

TEST_F(ReadPairTest, FeaturesOfDifferentNetworksAreRefused) {
  EXPECT_THAT([&] { Read({Features("a.npz", 30, 5)}, {Features("b.npz", 30, 6)}); },
              ThrowsMessage<DataError>(HasSubstr("5 features and 3 logits, generated ones 6")));
}

TEST_F(ReadPairTest, TooFewSamplesAreRefused) {
  EXPECT_THAT([&] { Read({Features("a.npz", 30, 5)}, {Features("b.npz", 19, 5)}); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("b.npz"), HasSubstr("19 samples"))));
}

TEST_F(ReadPairTest, FeaturesThatAreNotFiniteAreRefused) {
  NpzFile file;
  MatrixF rows = NormalRows(30, 2, 1);
  rows(4, 1) = std::numeric_limits<float>::quiet_NaN();
  file.Put("features", rows);
  file.Write(dir_ / "nan.npz");
  EXPECT_THAT([&] { ReadSamples({dir_ / "nan.npz"}); },
              ThrowsMessage<DataError>(HasSubstr("not finite")));
}

TEST_F(ReadPairTest, ImagesOfSeveralFilesMustHaveOneSize) {
  WriteImages(NoiseImages(30, 4, 3), dir_ / "a.npz");
  WriteImages(NoiseImages(30, 5, 3), dir_ / "b.npz");
  EXPECT_EQ(ReadSamples({dir_ / "a.npz", dir_ / "a.npz"}).images.count, 60);
  EXPECT_THAT(
      [&] {
        ReadSamples({dir_ / "a.npz", dir_ / "b.npz"});
      },
      ThrowsMessage<DataError>(AllOf(HasSubstr("b.npz"), HasSubstr("5 x 5"))));
}

TEST_F(ReadPairTest, ImagesAndFeaturesDoNotMixInOneSet) {
  WriteImages(NoiseImages(30, 4, 3), dir_ / "a.npz");
  EXPECT_THAT(
      [&] {
        ReadSamples({dir_ / "a.npz", Features("b.npz", 30, 5)});
      },
      ThrowsMessage<DataError>(HasSubstr("expected one kind")));
}

}  // namespace
}  // namespace lfiw::experiments
