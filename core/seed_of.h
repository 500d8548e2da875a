#ifndef LFIW_CORE_SEED_OF_H_
#define LFIW_CORE_SEED_OF_H_

#include <cstdint>
#include <string_view>

#include "core/rng.h"

namespace lfiw::core {

// The first 64 bits of a stream, as the seed of further streams.
inline std::uint64_t SeedOf(Stream stream) {
  const std::uint64_t high = stream.NextBits();
  return high << 32 | stream.NextBits();
}

// A seed of its own for each thing of a kind.
inline std::uint64_t SeedOf(std::uint64_t root, std::string_view purpose, std::int64_t index) {
  return SeedOf(Stream(root, purpose, {static_cast<std::uint64_t>(index)}));
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_SEED_OF_H_
