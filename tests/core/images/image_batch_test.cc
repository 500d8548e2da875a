#include "core/images/image_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lfiw::core {
namespace {

// Images of 1 x 2 whose pixels are first, first + 1, ..., labeled 10, 11, ...
ImageBatch Counted(std::int64_t count, std::uint8_t first) {
  ImageBatch images{
      .count = count, .height = 1, .width = 2, .channels = 1, .pixels = {}, .labels = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    images.pixels.insert(images.pixels.end(), 2, first++);
    images.labels.push_back(10 + i);
  }
  return images;
}

TEST(TakeImages, CopiesTheListedOnesWithTheirLabels) {
  const ImageBatch taken = TakeImages(Counted(4, 1), std::vector<std::int64_t>{3, 0});
  EXPECT_EQ(taken.count, 2);
  EXPECT_EQ(taken.pixels, (std::vector<std::uint8_t>{4, 4, 1, 1}));
  EXPECT_EQ(taken.labels, (std::vector<std::int64_t>{13, 10}));
}

TEST(TakeImages, CopiesARange) {
  ImageBatch images = Counted(4, 1);
  const ImageBatch taken = TakeImages(images, 1, 3);
  EXPECT_EQ(taken.count, 2);
  EXPECT_EQ(taken.pixels, (std::vector<std::uint8_t>{2, 2, 3, 3}));
  EXPECT_EQ(taken.labels, (std::vector<std::int64_t>{11, 12}));
  images.labels.clear();
  EXPECT_TRUE(TakeImages(images, 1, 3).labels.empty());
}

TEST(AppendImages, PutsThemBehindAndKeepsLabelsThatAllHave) {
  ImageBatch all;
  AppendImages(Counted(1, 7), all);
  AppendImages(Counted(1, 9), all);
  EXPECT_EQ(all.count, 2);
  EXPECT_EQ(all.pixels, (std::vector<std::uint8_t>{7, 7, 9, 9}));
  EXPECT_EQ(all.labels, (std::vector<std::int64_t>{10, 10}));
  ImageBatch unlabeled = Counted(1, 1);
  unlabeled.labels.clear();
  AppendImages(unlabeled, all);
  EXPECT_EQ(all.count, 3);
  EXPECT_TRUE(all.labels.empty());
}

}  // namespace
}  // namespace lfiw::core
