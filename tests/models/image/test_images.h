#ifndef LFIW_TESTS_MODELS_IMAGE_TEST_IMAGES_H_
#define LFIW_TESTS_MODELS_IMAGE_TEST_IMAGES_H_

#include <cstdint>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/rng.h"

namespace lfiw::models {

// Images of uniform noise.
inline ImageBatch NoiseImages(std::int64_t count, std::int64_t side, std::int64_t channels) {
  ImageBatch images{.count = count,
                    .height = side,
                    .width = side,
                    .channels = channels,
                    .pixels = {},
                    .labels = {}};
  Stream stream(1, "noise images");
  for (std::int64_t i = 0; i < count * images.image_size(); ++i) {
    images.pixels.push_back(static_cast<std::uint8_t>(stream.Below(256)));
  }
  return images;
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_IMAGE_TEST_IMAGES_H_
