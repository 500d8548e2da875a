#include "models/image/torchscript_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <string>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"
#include "tests/models/image/test_images.h"

namespace lfiw::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class TorchScriptFeaturesTest : public testing::Test {
 protected:
  // A module whose forward(x) has the given body.
  void Save(const std::string& body) {
    torch::jit::Module module("features");
    module.define("def forward(self, x):\n    " + body + "\n");
    module.save(path_);
  }

  TestDir dir_;
  std::string path_ = dir_ / "a.pt";
  ImageBatch images_ = NoiseImages(6, 4, 3);
};

TEST_F(TorchScriptFeaturesTest, SeesImagesAsFloatsByChannel) {
  Save("return x.flatten(2).mean(2)");
  const ImageFeatures found = TorchScriptFeatures::Load(path_)->Extract(images_, 2, 3);
  ASSERT_EQ(found.features.rows(), 3);
  ASSERT_EQ(found.features.cols(), 3);
  EXPECT_EQ(found.logits.cols(), 0);
  double green = 0.0;
  for (std::size_t p = 0; p < 16; ++p) green += images_.Image(2)[3 * p + 1] / 255.0 / 16.0;
  EXPECT_NEAR(static_cast<double>(found.features(0, 1)), green, 1e-6);
}

TEST_F(TorchScriptFeaturesTest, MayReturnLogitsToo) {
  Save("return x.flatten(1), x.flatten(2).sum(2)");
  const ImageFeatures found = TorchScriptFeatures::Load(path_)->Extract(images_, 0, 6);
  EXPECT_EQ(found.features.cols(), 48);
  EXPECT_EQ(found.logits.cols(), 3);
}

TEST_F(TorchScriptFeaturesTest, WrongResultsAndFailuresAreOneLine) {
  const auto error = [&](const std::string& body) -> std::string {
    Save(body);
    try {
      TorchScriptFeatures::Load(path_)->Extract(images_, 0, 2);
    } catch (const DataError& caught) {
      return caught.what();
    }
    return "no error";
  };
  EXPECT_THAT(error("return x"), HasSubstr("shape [2, 3, 4, 4] for 2 images, expected [2, d]"));
  EXPECT_THAT(error("return 1"), HasSubstr("returns a Int"));
  EXPECT_THAT(error("return torch.matmul(x, x.flatten(1))"),
              AllOf(HasSubstr(path_), HasSubstr("fails on images [2, 3, 4, 4]")));
}

TEST_F(TorchScriptFeaturesTest, AFileThatIsNoModuleIsNamed) {
  WriteFileAtomically(path_, "no module");
  EXPECT_THAT([&] { TorchScriptFeatures::Load(path_); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(path_), HasSubstr("cannot load"))));
}

}  // namespace
}  // namespace lfiw::models
