#ifndef LFIW_EXPERIMENTS_OMNIGLOT_RANKED_DRAWINGS_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_RANKED_DRAWINGS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "experiments/omniglot/drawing_split.h"

namespace lfiw::experiments {

// A class of the paper's figure of ranked drawings: held-out ones in the first row, below them
// generated ones in decreasing order of weight.
struct RankedClass {
  std::string name;
  ImageBatch picture;  // one image
};

// Most drawings in a row; of more generated ones, ranks from first to last at equal distances.
inline constexpr std::int64_t kRankedColumns = 15;

// `count` classes drawn by the seed (all, if there are fewer). generated [m], equally many of each
// class, class after class; log_weights [m].
std::vector<RankedClass> RankDrawings(const SplitDrawings& drawings, const ImageBatch& generated,
                                      std::span<const double> log_weights, std::int64_t count,
                                      std::uint64_t seed);

// All pictures in two columns, as one image.
ImageBatch JoinPictures(const std::vector<RankedClass>& classes);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_RANKED_DRAWINGS_H_
