#include "core/images/image_batch.h"

#include "core/error.h"

namespace lfiw::core {
namespace {

bool Labeled(const ImageBatch& images) { return std::ssize(images.labels) == images.count; }

}  // namespace

ImageBatch TakeImages(const ImageBatch& images, std::span<const std::int64_t> rows) {
  ImageBatch taken{.count = std::ssize(rows),
                   .height = images.height,
                   .width = images.width,
                   .channels = images.channels,
                   .pixels = {},
                   .labels = {}};
  for (const std::int64_t row : rows) {
    const auto image = images.Image(row);
    taken.pixels.insert(taken.pixels.end(), image.begin(), image.end());
    if (!images.labels.empty()) {
      taken.labels.push_back(images.labels[static_cast<std::size_t>(row)]);
    }
  }
  return taken;
}

ImageBatch TakeImages(const ImageBatch& images, std::int64_t begin, std::int64_t end) {
  const auto first = images.pixels.begin() + begin * images.image_size();
  ImageBatch taken{.count = end - begin,
                   .height = images.height,
                   .width = images.width,
                   .channels = images.channels,
                   .pixels = {first, first + (end - begin) * images.image_size()},
                   .labels = {}};
  if (!images.labels.empty()) {
    taken.labels = {images.labels.begin() + begin, images.labels.begin() + end};
  }
  return taken;
}

void AppendImages(const ImageBatch& more, ImageBatch& all) {
  if (all.count == 0) {
    all = more;
    return;
  }
  LFIW_ASSERT(all.height == more.height && all.width == more.width &&
              all.channels == more.channels);
  if (Labeled(all) && Labeled(more)) {
    all.labels.insert(all.labels.end(), more.labels.begin(), more.labels.end());
  } else {
    all.labels.clear();
  }
  all.pixels.insert(all.pixels.end(), more.pixels.begin(), more.pixels.end());
  all.count += more.count;
}

}  // namespace lfiw::core
