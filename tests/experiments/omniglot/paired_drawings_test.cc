#include "experiments/omniglot/paired_drawings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/index_list.h"
#include "core/statistics.h"
#include "experiments/omniglot/ratio_weights.h"
#include "tests/experiments/omniglot/toy_drawings.h"

namespace lfiw::experiments {
namespace {

std::vector<std::uint8_t> Channel(const ImageBatch& pairs, std::int64_t image,
                                  std::size_t channel) {
  std::vector<std::uint8_t> pixels;
  const std::span<const std::uint8_t> both = pairs.Image(image);
  for (std::size_t p = channel; p < both.size(); p += 2) pixels.push_back(both[p]);
  return pixels;
}

TEST(PairedDrawings, EachRealOneStandsBesideAnotherOfItsClass) {
  const SplitDrawings drawings = ToySplit(3);
  const ImageBatch pairs = PairedRealDrawings(drawings);
  ASSERT_EQ(pairs.count, 6);
  ASSERT_EQ(pairs.channels, 2);
  for (std::int64_t i = 0; i < 6; ++i) {
    const std::int64_t partner = 3 * (i / 3) + (i + 1) % 3;
    const auto row = [&](std::int64_t k) {
      return drawings.images.Image(drawings.train.rows[static_cast<std::size_t>(k)]);
    };
    EXPECT_TRUE(std::ranges::equal(Channel(pairs, i, 0), row(i)));
    EXPECT_TRUE(std::ranges::equal(Channel(pairs, i, 1), row(partner)));
  }
}

TEST(PairedDrawings, EachGeneratedOneStandsBesideTheDrawingThatItWasMadeFrom) {
  const SplitDrawings drawings = ToySplit(3);
  const ImageBatch generated = HalfWrong(5);  // made from the drawings 0, 1, 2, 0, 1 of its class
  const ImageBatch pairs = PairedGeneratedDrawings(drawings, generated);
  for (const std::int64_t i : {0, 4, 8}) {
    const std::int64_t condition = 3 * (i / 5) + (i % 5) % 3;
    EXPECT_TRUE(std::ranges::equal(Channel(pairs, i, 0), generated.Image(i)));
    EXPECT_TRUE(std::ranges::equal(
        Channel(pairs, i, 1),
        drawings.images.Image(drawings.train.rows[static_cast<std::size_t>(condition)])));
  }
}

// Two classes, on quiet and on loud ground.
ImageBatch OnGrounds(std::int64_t per_class, std::uint64_t seed, std::int64_t every_wrong) {
  ImageBatch images = NoImages();
  Stream stream(seed, "grounds");
  for (const std::int64_t label : {0, 1}) {
    for (std::int64_t i = 0; i < per_class; ++i) {
      const bool wrong = every_wrong > 0 && i % every_wrong == 0;
      AppendBar({.ground = (label == 1) != wrong ? 200u : 30u}, label, stream, images);
    }
  }
  return images;
}

// A third of the generated drawings is of the other class and looks as real as any.
TEST(PairedDrawings, ADrawingOfAnotherCharacterGetsLessWeightInPairsOnly) {
  SplitDrawings drawings;
  drawings.images = OnGrounds(60, 1, 0);
  drawings.names = {"quiet", "loud"};
  drawings.train = {.rows = IndexList(drawings.images.count), .labels = drawings.images.labels};
  const ImageBatch generated = OnGrounds(60, 2, 3);
  DrawingRatioOptions options;
  options.folds = 2;
  options.epochs = 20;
  options.fit.filters = 8;
  options.fit.blocks = 2;
  options.fit.training.device = Device::kCpu;
  const auto gap = [&](const ImageBatch& real, const ImageBatch& fake) {
    const std::vector<double> logs = FitRatios(real, fake, options, 1, {}).weights.generated;
    std::vector<double> right, wrong;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      (i % 60 % 3 == 0 ? wrong : right).push_back(logs[i]);
    }
    return Mean(right) - Mean(wrong);
  };
  EXPECT_GT(gap(PairedRealDrawings(drawings), PairedGeneratedDrawings(drawings, generated)), 0.5);
  EXPECT_LT(gap(drawings.images, generated), 0.25);
}

}  // namespace
}  // namespace lfiw::experiments
