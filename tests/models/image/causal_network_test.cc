#include "models/image/causal_network.h"

#include <gtest/gtest.h>

#include "models/image/causal_sampler.h"
#include "tests/models/image/gradient_check.h"

namespace lfiw::models {
namespace {

constexpr CausalGraphOptions kTiny = {
    .channels = 2, .outputs = 5, .filters = 3, .blocks = 1, .levels = 3, .dropout = 0.5};

struct Fixture {
  Fixture() : causal(MakePixelCnnGraph(kTiny), network.layout) {
    PrepareTorchForImages();
    network.Draw(Stream(1, "causal"));
    // biases and scales that are not all the same
    VectorF noise(network.parameters.size());
    Stream(2, "noise").FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
    network.parameters += 0.3f * noise;
  }
  at::Tensor Output(const at::Tensor& images) const {
    Pass pass = network.MakePass(PassMode::kInference, at::kCPU);
    return causal(pass, images);
  }
  Network network;
  CausalNetwork causal;
};

at::Tensor Images(std::int64_t count) {
  return ImageTensor(ColorfulImages(count, 8, 2), DrawIndices(Stream(1, "i"), count, count));
}

TEST(CausalNetworkTest, APixelChangesNoOutputBeforeOrAtItselfAndSomeAfter) {
  const Fixture fixture;
  const at::Tensor images = Images(1), before = fixture.Output(images);
  EXPECT_EQ(before.sizes(), (std::vector<std::int64_t>{1, 5, 8, 8}));
  for (std::int64_t place = 0; place < 64; ++place) {
    at::Tensor changed = images.clone();
    changed[0][1][place / 8][place % 8] += 0.5;
    const at::Tensor difference = (fixture.Output(changed) - before).abs().sum(1).flatten();
    EXPECT_EQ(difference.narrow(0, 0, place + 1).sum().item<float>(), 0.0f) << place;
    // the next one in the row, and the one below
    if (place % 8 < 7) {
      EXPECT_GT(difference[place + 1].item<float>(), 0.0f) << place;
    }
    if (place < 56) {
      EXPECT_GT(difference[place + 8].item<float>(), 0.0f) << place;
    }
  }
}

TEST(CausalNetworkTest, GradientsMatchFiniteDifferences) {
  Fixture fixture;
  ExpectNetworkGradientsMatch(
      fixture.network.layout, Images(2),
      [&](Pass& pass, const at::Tensor& x) { return fixture.causal(pass, x); }, 1e-5);
}

TEST(CausalNetworkTest, InitializingGivesOutputsOfMeanZeroAndDeviationOne) {
  Fixture fixture;
  fixture.network.Draw(Stream(1, "fresh"));
  const at::Tensor images = Images(16);
  Pass pass = fixture.network.MakePass(PassMode::kInference, at::kCPU);
  fixture.causal.Initialize(pass, images);
  const at::Tensor outputs = fixture.Output(images).transpose(0, 1).flatten(1);
  EXPECT_TRUE(at::allclose(outputs.mean(1), at::zeros({5}), 0.0, 1e-3));
  EXPECT_TRUE(at::allclose(outputs.std(1), at::ones({5}), 0.0, 1e-2));
}

TEST(CausalSamplerTest, ValuesComputedOnceEqualThoseOfWholeImages) {
  const Fixture fixture;
  constexpr std::int64_t kCount = 3;
  const at::Tensor images = Images(kCount);
  ImageBatch bytes = EmptyImages(kCount, 8, 8, 2);
  StoreImages(images, 0, bytes);
  const at::Tensor expected = fixture.Output(images);

  // a source that gives the pixels of these images and looks at the outputs
  std::int64_t place = 0;
  const auto source = [&](const ConstMatrixRef& outputs, std::span<std::uint8_t> pixel) {
    for (std::int64_t b = 0; b < kCount; ++b) {
      for (std::int64_t k = 0; k < 5; ++k) {
        EXPECT_NEAR(outputs(b, k), expected[b][k][place / 8][place % 8].item<float>(), 1e-4);
      }
      for (std::int64_t c = 0; c < 2; ++c) {
        pixel[static_cast<std::size_t>(b * 2 + c)] =
            bytes.Image(b)[static_cast<std::size_t>(place * 2 + c)];
      }
    }
    ++place;
  };
  ImageBatch copied = EmptyImages(kCount, 8, 8, 2);
  Pass pass = fixture.network.MakePass(PassMode::kInference, at::kCPU);
  SampleCausally(fixture.causal.graph(), FiltersForSampling(fixture.causal, pass), source, copied);
  EXPECT_EQ(place, 64);
  EXPECT_EQ(copied.pixels, bytes.pixels);
}

// The outputs [64, count, 5] while images are filled with the bytes of `like`, from image `first`.
std::vector<float> OutputsWhileSampling(const Fixture& fixture, const ImageBatch& like,
                                        std::int64_t first, std::int64_t count) {
  std::vector<float> all;
  std::size_t place = 0;
  const auto source = [&](const ConstMatrixRef& outputs, std::span<std::uint8_t> pixel) {
    for (Eigen::Index b = 0; b < count; ++b) {
      for (Eigen::Index k = 0; k < 5; ++k) all.push_back(outputs(b, k));
      std::ranges::copy(like.Image(first + b).subspan(place * 2, 2), pixel.begin() + b * 2);
    }
    ++place;
  };
  ImageBatch images = EmptyImages(count, 8, 8, 2);
  Pass pass = fixture.network.MakePass(PassMode::kInference, at::kCPU);
  SampleCausally(fixture.causal.graph(), FiltersForSampling(fixture.causal, pass), source, images);
  return all;
}

TEST(CausalSamplerTest, OutputsOfAnImageAreTheSameBitsInAnyBatchAnywhereInMemory) {
  const Fixture fixture;
  const ImageBatch like = ColorfulImages(50, 8, 2);
  const std::vector<float> all = OutputsWhileSampling(fixture, like, 0, 50);
  // what lies in memory between one batch and the next moves the next
  std::vector<std::vector<char>> between;
  for (const std::int64_t image : {0, 1, 7, 30, 49}) {
    between.emplace_back(16 * (image + 1));
    const std::vector<float> alone = OutputsWhileSampling(fixture, like, image, 1);
    ASSERT_EQ(alone.size(), 64u * 5u);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(alone[i], all[(i / 5 * 50 + static_cast<std::size_t>(image)) * 5 + i % 5]);
    }
  }
}

}  // namespace
}  // namespace lfiw::models
