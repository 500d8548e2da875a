#ifndef LFIW_CORE_IMAGES_IMAGE_BATCH_H_
#define LFIW_CORE_IMAGES_IMAGE_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lfiw::core {

// Images of one size, 8 bits a channel.
struct ImageBatch {
  std::int64_t count = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;         // 1: gray, 3: red, green, blue
  std::vector<std::uint8_t> pixels;  // [count, height, width, channels]
  std::vector<std::int64_t> labels;  // [count]: class of each image; empty if unknown

  std::int64_t image_size() const { return height * width * channels; }
  std::span<const std::uint8_t> Image(std::int64_t i) const {
    return std::span(pixels).subspan(static_cast<std::size_t>(i * image_size()),
                                     static_cast<std::size_t>(image_size()));
  }
};

// The listed images, or those of begin .. end - 1, as a batch of their own; labels too where known.
ImageBatch TakeImages(const ImageBatch& images, std::span<const std::int64_t> rows);
ImageBatch TakeImages(const ImageBatch& images, std::int64_t begin, std::int64_t end);

// Puts images after those of `all`, which has the same sizes or is empty. Labels are kept where
// both have them.
void AppendImages(const ImageBatch& more, ImageBatch& all);

}  // namespace lfiw::core

#endif  // LFIW_CORE_IMAGES_IMAGE_BATCH_H_
