#ifndef LFIW_EXPERIMENTS_OMNIGLOT_SEED_OF_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_SEED_OF_H_

#include <cstdint>
#include <string_view>

#include "core/rng.h"

namespace lfiw {

// A seed of its own for each thing of a kind.
inline std::uint64_t SeedOf(std::uint64_t root, std::string_view purpose, std::int64_t index) {
  Stream stream(root, purpose, {static_cast<std::uint64_t>(index)});
  const std::uint64_t high = stream.NextBits();
  return high << 32 | stream.NextBits();
}

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_SEED_OF_H_
