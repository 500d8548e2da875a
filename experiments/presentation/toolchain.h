#ifndef LFIW_EXPERIMENTS_PRESENTATION_TOOLCHAIN_H_
#define LFIW_EXPERIMENTS_PRESENTATION_TOOLCHAIN_H_

#include <array>
#include <string_view>

#include "core/layers.h"
#include "core/run/stage.h"

namespace lfiw::experiments {

// SHA-256 of the sources of each layer, in the order of Layer; set at build time by
// cmake/LfiwSourceHashes.cmake.
extern const std::array<std::string_view, 6> kSourceHashes;

// What this program computes with, for the keys of its stages: the sources by layer, the versions
// of the libraries, the kernel of the BLAS and the kind of CPU.
Toolchain CurrentToolchain();

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_TOOLCHAIN_H_
