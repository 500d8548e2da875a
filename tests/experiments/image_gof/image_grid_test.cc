#include "experiments/image_gof/image_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/images/png.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Gray images of one pixel, or more, with the value of their index.
ImageBatch Numbered(std::int64_t count, std::int64_t side) {
  ImageBatch images{
      .count = count, .height = side, .width = side, .channels = 1, .pixels = {}, .labels = {}};
  for (std::int64_t i = 0; i < count * side * side; ++i) {
    images.pixels.push_back(static_cast<std::uint8_t>(i / (side * side)));
  }
  return images;
}

TEST(ImageGrid, PutsImagesRowByRowWithWhiteBetween) {
  const ImageBatch grid = ImageGrid(Numbered(5, 1), std::vector<std::int64_t>{4, 0, 2}, 2);
  EXPECT_EQ(grid.height, 3);
  EXPECT_EQ(grid.width, 3);
  EXPECT_THAT(grid.pixels, ElementsAre(4, 255, 0, 255, 255, 255, 2, 255, 255));
}

TEST(RankedGrid, HasTheLargestFirstAndTheSmallestLast) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i < 50 ? i : 1000 - i);
  // 20 columns, 2 rows of each half; the order is 50 .. 99, 49 .. 0
  const ImageBatch grid = RankedGrid(Numbered(100, 1), values, 2);
  EXPECT_EQ(grid.width, 39);
  EXPECT_EQ(grid.height, 3 + 8 + 3);
  EXPECT_EQ(grid.pixels.front(), 50);
  EXPECT_EQ(grid.pixels.back(), 0);
  EXPECT_EQ(grid.pixels[2], 51);
}

TEST(RankedGrid, OfFewImagesSplitsThemInHalves) {
  const ImageBatch grid = RankedGrid(Numbered(5, 2), std::vector<double>{5, 4, 3, 2, 1}, 5);
  EXPECT_EQ(grid.height, 2 + 8 + 2);
  EXPECT_EQ(grid.pixels.front(), 0);
}

TEST(PngAsSvg, HoldsTheFileAndItsWords) {
  const ImageBatch image = Numbered(1, 3);
  const std::string svg = PngAsSvg(EncodePng(image, 0), image, "a <grid>");
  EXPECT_THAT(svg, HasSubstr("data:image/png;base64,iVBORw0KGgo"));
  EXPECT_THAT(svg, HasSubstr("a &lt;grid&gt;"));
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 3 3\""));
}

TEST(PngAsSvg, PadsBase64AsItsStandardSays) {
  const ImageBatch image = Numbered(1, 1);
  EXPECT_THAT(PngAsSvg("f", image, ""), HasSubstr("base64,Zg==\""));
  EXPECT_THAT(PngAsSvg("fo", image, ""), HasSubstr("base64,Zm8=\""));
  EXPECT_THAT(PngAsSvg("foobar", image, ""), HasSubstr("base64,Zm9vYmFy\""));
}

}  // namespace
}  // namespace lfiw::experiments
