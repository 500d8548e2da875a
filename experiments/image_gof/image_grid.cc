#include "experiments/image_gof/image_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "experiments/presentation/markup.h"

namespace lfiw::experiments {
namespace {

constexpr std::uint8_t kWhite = 255;
constexpr std::int64_t kGap = 8;          // pixels between the two halves of a ranked grid
constexpr std::int64_t kGridWidth = 660;  // pixels, as far as 4 to 20 columns allow

ImageBatch Blank(std::int64_t height, std::int64_t width, std::int64_t channels) {
  ImageBatch image{.count = 1,
                   .height = height,
                   .width = width,
                   .channels = channels,
                   .pixels = {},
                   .labels = {}};
  image.pixels.assign(static_cast<std::size_t>(image.image_size()), kWhite);
  return image;
}

// Copies image i of `from` into `to`, its corner at (top, left).
void Paste(const ImageBatch& from, std::int64_t i, std::int64_t top, std::int64_t left,
           ImageBatch& to) {
  const std::span<const std::uint8_t> pixels = from.Image(i);
  const std::int64_t row = from.width * from.channels;
  for (std::int64_t y = 0; y < from.height; ++y) {
    const auto source =
        pixels.subspan(static_cast<std::size_t>(y * row), static_cast<std::size_t>(row));
    std::copy(source.begin(), source.end(),
              to.pixels.begin() + ((top + y) * to.width + left) * to.channels);
  }
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t triple = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t byte = k < count ? static_cast<std::uint8_t>(bytes[i + k]) : 0;
      triple = triple << 8 | byte;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[triple >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace

ImageBatch ImageGrid(const ImageBatch& images, std::span<const std::int64_t> listed,
                     std::int64_t columns) {
  LFIW_ASSERT(!listed.empty() && columns >= 1);
  const std::int64_t count = std::ssize(listed);
  const std::int64_t rows = (count + columns - 1) / columns;
  ImageBatch grid =
      Blank(rows * (images.height + 1) - 1, columns * (images.width + 1) - 1, images.channels);
  for (std::int64_t k = 0; k < count; ++k) {
    Paste(images, listed[static_cast<std::size_t>(k)], k / columns * (images.height + 1),
          k % columns * (images.width + 1), grid);
  }
  return grid;
}

ImageBatch RankedGrid(const ImageBatch& images, std::span<const double> values, std::int64_t rows) {
  LFIW_ASSERT(std::ssize(values) == images.count && images.count >= 2);
  std::vector<std::int64_t> order = IndexList(std::ssize(values));
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
  const std::int64_t columns = std::clamp<std::int64_t>(kGridWidth / (images.width + 1), 4, 20);
  const std::int64_t half = std::min(rows * columns, images.count / 2);
  const std::span<const std::int64_t> all(order);
  const ImageBatch best = ImageGrid(images, all.first(static_cast<std::size_t>(half)), columns);
  const ImageBatch worst = ImageGrid(images, all.last(static_cast<std::size_t>(half)), columns);
  ImageBatch both = Blank(best.height + kGap + worst.height, best.width, images.channels);
  Paste(best, 0, 0, 0, both);
  Paste(worst, 0, best.height + kGap, 0, both);
  return both;
}

std::string PngAsSvg(const std::string& png, const ImageBatch& image, const std::string& words) {
  return fmt::format(
      "<svg role=\"img\" viewBox=\"0 0 {} {}\" xmlns=\"http://www.w3.org/2000/svg\">"
      "<title>{}</title><image width=\"{}\" height=\"{}\" style=\"image-rendering:pixelated\" "
      "href=\"data:image/png;base64,{}\"/></svg>",
      image.width, image.height, EscapeMarkup(words), image.width, image.height, Base64(png));
}

}  // namespace lfiw::experiments
