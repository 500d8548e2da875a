#include "experiments/omniglot/ranked_drawings.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/experiments/omniglot/toy_drawings.h"

namespace lfiw::experiments {
namespace {

// Generated images of one value each: 10 times the class, plus the number.
ImageBatch Numbered(std::int64_t per_class) {
  ImageBatch images = NoImages();
  for (std::int64_t i = 0; i < 2 * per_class; ++i) {
    const auto value = static_cast<std::uint8_t>(100 * (i / per_class) + i % per_class);
    images.pixels.insert(images.pixels.end(), kDrawingSide * kDrawingSide, value);
    images.labels.push_back(i / per_class);
    ++images.count;
  }
  return images;
}

// The value of the tile in a row and column of a picture.
int Tile(const ImageBatch& picture, std::int64_t row, std::int64_t column) {
  const std::int64_t y = row * (kDrawingSide + 1), x = column * (kDrawingSide + 1);
  return picture.pixels[static_cast<std::size_t>(y * picture.width + x)];
}

TEST(RankDrawings, GeneratedOnesStandInDecreasingOrderOfWeight) {
  const std::vector<double> log_weights = {0.0, 2.0, -1.0, 5.0, 7.0, 6.0};
  const auto ranked = RankDrawings(ToySplit(), Numbered(3), log_weights, 6, 1);
  ASSERT_EQ(ranked.size(), 2u) << "no more classes than there are";
  for (const RankedClass& one : ranked) {
    const bool first = one.name == "across";
    EXPECT_EQ(Tile(one.picture, 1, 0), first ? 1 : 101);
    EXPECT_EQ(Tile(one.picture, 1, 1), first ? 0 : 102);
    EXPECT_EQ(Tile(one.picture, 1, 2), first ? 2 : 100);
  }
}

TEST(RankDrawings, OfManyTheFirstAndTheLastAreShown) {
  std::vector<double> log_weights;
  for (int i = 0; i < 100; ++i) log_weights.push_back(-i);
  const auto ranked = RankDrawings(ToySplit(), Numbered(50), log_weights, 1, 1);
  ASSERT_EQ(ranked.size(), 1u);
  const int from = ranked[0].name == "across" ? 0 : 100;
  EXPECT_EQ(Tile(ranked[0].picture, 1, 0), from);
  EXPECT_EQ(Tile(ranked[0].picture, 1, kRankedColumns - 1), from + 49);
}

TEST(JoinPictures, PutsThemInTwoColumns) {
  const auto ranked = RankDrawings(ToySplit(), Numbered(3), std::vector<double>(6, 0.0), 2, 1);
  const ImageBatch one = ranked[0].picture, both = JoinPictures(ranked);
  EXPECT_EQ(both.count, 1);
  EXPECT_GT(both.width, 2 * one.width);
  EXPECT_LT(both.height, 2 * one.height);
}

}  // namespace
}  // namespace lfiw::experiments
