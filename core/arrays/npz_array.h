#ifndef LFIW_CORE_ARRAYS_NPZ_ARRAY_H_
#define LFIW_CORE_ARRAYS_NPZ_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lfiw::core {

// One numpy array: little-endian, C order. `type` is numpy's descriptor without byte order: "f4",
// "f8", "i4", "i8", "u1", ... An array of pickled objects ("O") or of a type that is not understood
// keeps its name, type and shape but no bytes.
struct NpzArray {
  std::string type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_NPZ_ARRAY_H_
