#ifndef LFIW_EXPERIMENTS_OMNIGLOT_AREA_AVERAGE_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_AREA_AVERAGE_H_

#include <cstdint>
#include <span>

#include "core/layers.h"

namespace lfiw::experiments {

// Shrinks a gray square of side `from` to one of side `to` <= `from`: every pixel is the mean of
// the square it covers, parts of pixels counted by their area, rounded to the nearest byte.
// in [from, from], out [to, to].
void AverageAreas(std::span<const std::uint8_t> in, std::int64_t from, std::span<std::uint8_t> out,
                  std::int64_t to);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_AREA_AVERAGE_H_
