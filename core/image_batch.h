#ifndef LFIW_CORE_IMAGE_BATCH_H_
#define LFIW_CORE_IMAGE_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lfiw {

// Images of one size, 8 bits a channel.
struct ImageBatch {
  std::int64_t count = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;         // 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> pixels;  // [count, height, width, channels]
  std::vector<std::int64_t> labels;  // [count]: class of each image; empty if unknown

  std::int64_t image_size() const { return height * width * channels; }
  std::span<const std::uint8_t> Image(std::int64_t i) const {
    return std::span(pixels).subspan(static_cast<std::size_t>(i * image_size()),
                                     static_cast<std::size_t>(image_size()));
  }
};

}  // namespace lfiw

#endif  // LFIW_CORE_IMAGE_BATCH_H_
