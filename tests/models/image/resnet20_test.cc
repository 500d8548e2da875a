#include "models/image/resnet20.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/image_files.h"
#include "core/parallel.h"
#include "tests/core/test_dir.h"
#include "tests/models/image/test_images.h"
#include "tests/shared_data.h"

namespace lfiw::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PublicResNet20 : public testing::Test {
 protected:
  void SetUp() override {
    path_ = SharedData("models/resnet20.npz");
    if (path_.empty()) GTEST_SKIP() << "the public ResNet-20 is not at hand";
  }
  std::string path_;
};

TEST_F(PublicResNet20, Classifies915OfTheFirst1000TestImages) {
  const std::string file = SharedData("cifar10/test_batch_first1000.bin");
  if (file.empty()) GTEST_SKIP() << "CIFAR-10 is not at hand";
  const ImageBatch images = ReadImages(file).images;
  const ImageFeatures found = ExtractFeatures(ResNet20::Load(path_), images, nullptr);
  ASSERT_EQ(found.features.cols(), 64);
  ASSERT_EQ(found.logits.cols(), 10);
  std::int64_t right = 0;
  for (Eigen::Index i = 0; i < images.count; ++i) {
    Eigen::Index best = 0;
    found.logits.row(i).maxCoeff(&best);
    right += best == images.labels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  EXPECT_EQ(right, 915);
}

TEST_F(PublicResNet20, GivesTheSameBytesForAnyNumberOfThreads) {
  const ResNet20 network = ResNet20::Load(path_);
  const ImageBatch images = NoiseImages(120, 32, 3);
  SetThreads(1);
  const ImageFeatures one = ExtractFeatures(network, images, nullptr);
  SetThreads(3);
  const ImageFeatures three = ExtractFeatures(network, images, nullptr);
  EXPECT_EQ(one.features, three.features);
  EXPECT_EQ(one.logits, three.logits);
}

TEST_F(PublicResNet20, RefusesImagesOfAnotherSize) {
  const ResNet20 network = ResNet20::Load(path_);
  EXPECT_THAT([&] { network.Extract(NoiseImages(1, 28, 1), 0, 1); },
              ThrowsMessage<DataError>(HasSubstr("28 x 28 with 1 channels")));
}

TEST(ResNet20Test, ATensorOfAnotherShapeIsNamed) {
  const TestDir dir;
  NpzFile file;
  file.Put("conv1.weight", std::vector<float>{1.0f});
  file.Write(dir / "a.npz");
  EXPECT_THAT([&] { ResNet20::Load(dir / "a.npz"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("a.npz"), HasSubstr("conv1.weight"),
                                             HasSubstr("expected [16, 3, 3, 3]"))));
}

}  // namespace
}  // namespace lfiw::models
