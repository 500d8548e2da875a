#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_PRESET_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_PRESET_H_

#include <array>
#include <string_view>

#include "core/config/visitor.h"
#include "core/layers.h"

namespace lfiw::experiments {

// Which defaults the other fields of an experiment on images have.
enum class ImagePreset {
  kRobust,  // weights that help where supports hardly overlap
  kPaper,   // the weights as published
};
constexpr auto EnumNames(ImagePreset /*kind*/) {
  return std::to_array<std::string_view>({"robust", "paper"});
}

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_PRESET_H_
