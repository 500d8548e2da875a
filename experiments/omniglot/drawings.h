#ifndef LFIW_EXPERIMENTS_OMNIGLOT_DRAWINGS_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_DRAWINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/images/image_batch.h"
#include "core/layers.h"

namespace lfiw::experiments {

// Pixels of a side, which larger drawings are averaged to.
inline constexpr std::int64_t kDrawingSide = 28;

// Handwritten characters: classes with equally many drawings of each.
struct Drawings {
  ImageBatch images;  // [classes * per_class], gray, ink 255 on 0, class after class, labeled
  std::int64_t per_class = 0;
  std::vector<std::string> names;  // [classes]: "Greek character03"

  std::int64_t classes() const { return std::ssize(names); }
};

// Reads Omniglot (Lake et al. 2015); several paths are put together in their order. Each is one of
// - an .npz file with `images`, uint8 [classes, drawings, side, side], ink 255 on 0, side >= 28;
// - an .npz file with `bits`, uint8 [classes, drawings, 1379]: 105 x 105 bits, the first one
//   highest, ink 1;
// - a folder as published (images_background), ALPHABET/CHARACTER/NNNN_MM.png: squares of black ink
//   on white, NNNN the number of the class, by which classes are sorted, and MM of the drawing.
// The .npz files may name their classes in `alphabet` and `character`, texts [classes].
// Files are treated as hostile: sizes are checked before anything is allocated. Throws ConfigError
// without paths, DataError that names the file, what it holds and what was expected.
Drawings ReadDrawings(const std::vector<std::string>& paths);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_DRAWINGS_H_
