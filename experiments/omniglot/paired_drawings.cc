#include "experiments/omniglot/paired_drawings.h"

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "experiments/omniglot/generated_drawings.h"

namespace lfiw::experiments {
namespace {

// Gray images as channel 0 and their partners as channel 1.
ImageBatch Interleaved(const ImageBatch& images, const ImageBatch& partners) {
  LFIW_ASSERT(images.channels == 1 && partners.pixels.size() == images.pixels.size());
  ImageBatch pairs{images.count, images.height, images.width, 2, {}, images.labels};
  pairs.pixels.reserve(2 * images.pixels.size());
  for (std::size_t p = 0; p < images.pixels.size(); ++p) {
    pairs.pixels.push_back(images.pixels[p]);
    pairs.pixels.push_back(partners.pixels[p]);
  }
  return pairs;
}

}  // namespace

ImageBatch PairedRealDrawings(const SplitDrawings& drawings) {
  const std::vector<std::int64_t>& rows = drawings.train.rows;
  const std::int64_t per_class = std::ssize(rows) / drawings.classes();
  std::vector<std::int64_t> partners;
  for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
    const std::int64_t first = i - i % per_class;
    partners.push_back(rows[static_cast<std::size_t>(first + (i + 1) % per_class)]);
  }
  return Interleaved(TakeImages(drawings.images, rows), TakeImages(drawings.images, partners));
}

ImageBatch PairedGeneratedDrawings(const SplitDrawings& drawings, const ImageBatch& generated) {
  const std::int64_t per_class = generated.count / drawings.classes();
  return Interleaved(generated, TakeImages(drawings.images, ConditionsOf(drawings, per_class)));
}

}  // namespace lfiw::experiments
