#ifndef LFIW_MODELS_PRECISION_H_
#define LFIW_MODELS_PRECISION_H_

#include <array>
#include <string_view>

#include "core/layers.h"

namespace lfiw::models {

// In what the products of a network's training steps are computed. Sums, parameters, the optimizer
// and everything after training are float.
enum class Precision {
  kAuto,      // bfloat16 for wide layers where the CPU has a matrix unit for it
  kFloat,     // 24 significant bits
  kBFloat16,  // 8 significant bits
};

constexpr auto EnumNames(Precision /*kind*/) {
  return std::to_array<std::string_view>({"auto", "float", "bfloat16"});
}

}  // namespace lfiw::models

#endif  // LFIW_MODELS_PRECISION_H_
