#ifndef LFIW_CORE_LOGS_RING_BUFFER_H_
#define LFIW_CORE_LOGS_RING_BUFFER_H_

#include <cstdint>

#include "core/arrays/array_store.h"

namespace lfiw::core {

// What a ring buffer says of its rows beside the steps: attributes or scalars named size, pos, ptr,
// full and alike, as Stable-Baselines3, TD3 and Baselines have them.
struct RingState {
  std::int64_t rows = 0;    // that were written, the first ones
  std::int64_t oldest = 0;  // the row that would be written next, of a full buffer; else 0
};

// Reads it for `rows` rows in the file, of which the first `written` hold data; without such
// numbers, or with some that do not fit, all that are written count and none is the oldest.
RingState ReadRingState(ArrayStore& store, std::int64_t rows, std::int64_t written);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_RING_BUFFER_H_
