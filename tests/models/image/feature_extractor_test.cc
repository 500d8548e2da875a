#include "models/image/feature_extractor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "models/image/load_feature_extractor.h"
#include "tests/models/image/test_images.h"

namespace lfiw::models {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Features are the first pixel and the place in the batch; image 70 may be spoilt.
class FirstPixel : public FeatureExtractor {
 public:
  explicit FirstPixel(float of_image_70) : of_image_70_(of_image_70) {}

  std::string Description() const override { return "first pixel"; }
  bool saw_cifar10_training_images() const override { return false; }
  ImageFeatures Extract(const ImageBatch& images, std::int64_t begin,
                        std::int64_t count) const override {
    ImageFeatures found{MatrixF(count, 2), MatrixF(count, 1)};
    for (std::int64_t i = 0; i < count; ++i) {
      const auto pixel = static_cast<float>(images.Image(begin + i)[0]);
      found.features.row(i) << pixel, static_cast<float>(begin + i);
      found.logits(i, 0) = begin + i == 70 ? of_image_70_ : 0.0f;
    }
    return found;
  }

 private:
  float of_image_70_;
};

TEST(ExtractFeatures, PutsBatchesTogetherInOrder) {
  const ImageBatch images = NoiseImages(123, 2, 1);
  const ImageFeatures found = ExtractFeatures(FirstPixel(1.0f), images, nullptr);
  ASSERT_EQ(found.features.rows(), 123);
  for (Eigen::Index i = 0; i < 123; ++i) {
    EXPECT_EQ(found.features(i, 0), static_cast<float>(images.Image(i)[0]));
    EXPECT_EQ(found.features(i, 1), static_cast<float>(i));
  }
  EXPECT_EQ(found.logits(70, 0), 1.0f);
}

TEST(ExtractFeatures, NamesTheImageThatIsNotFinite) {
  const FirstPixel spoilt(std::numeric_limits<float>::infinity());
  EXPECT_THAT([&] { ExtractFeatures(spoilt, NoiseImages(123, 2, 1), nullptr); },
              ThrowsMessage<NumericError>(HasSubstr("image 70: a logit is not finite")));
}

TEST(ExtractFeatures, OfNoImagesAreEmpty) {
  EXPECT_EQ(ExtractFeatures(FirstPixel(0.0f), NoiseImages(0, 2, 1), nullptr).features.rows(), 0);
}

TEST(LoadFeatureExtractor, AMissingFileIsNamed) {
  for (const char* path : {"absent.npz", "absent.pt"}) {
    EXPECT_THAT([&] { LoadFeatureExtractor(path); }, ThrowsMessage<DataError>(HasSubstr(path)));
  }
}

}  // namespace
}  // namespace lfiw::models
