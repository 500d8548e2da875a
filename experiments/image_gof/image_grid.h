#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_GRID_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_GRID_H_

#include <cstdint>
#include <span>
#include <string>

#include "core/images/image_batch.h"
#include "core/layers.h"

namespace lfiw::experiments {

// The listed images side by side in rows of `columns`, one pixel of white between them, as one
// image (count 1). At least one image and one column.
ImageBatch ImageGrid(const ImageBatch& images, std::span<const std::int64_t> listed,
                     std::int64_t columns);

// The images of largest value from the top left on, a gap, then those of smallest value, so many
// rows of each as there are images for, at most `rows`. values [count].
ImageBatch RankedGrid(const ImageBatch& images, std::span<const double> values, std::int64_t rows);

// A PNG file as one <svg> element that holds it, enlarged without smoothing, for a page without
// other files. `words` say the same to who cannot see it.
std::string PngAsSvg(const std::string& png, const ImageBatch& image, const std::string& words);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_GRID_H_
