#ifndef LFIW_CORE_ARRAYS_ARRAY_VISIT_H_
#define LFIW_CORE_ARRAYS_ARRAY_VISIT_H_

#include <cstdint>
#include <cstring>

#include "core/arrays/npz_array.h"

namespace lfiw::core {

// Calls visit(value) for every item of an array of T.
template <class T, class Visit>
void ForEach(const NpzArray& array, Visit& visit) {
  const std::size_t count = array.bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    visit(value);
  }
}

// False if `array` holds no floating-point numbers of a C++ type.
template <class Visit>
bool VisitFloats(const NpzArray& array, Visit visit) {
  if (array.type == "f4") return ForEach<float>(array, visit), true;
  if (array.type == "f8") return ForEach<double>(array, visit), true;
  return false;
}

// False if `array` holds no integers.
template <class Visit>
bool VisitIntegers(const NpzArray& array, Visit visit) {
  if (array.type == "i8") return ForEach<std::int64_t>(array, visit), true;
  if (array.type == "i4") return ForEach<std::int32_t>(array, visit), true;
  if (array.type == "i2") return ForEach<std::int16_t>(array, visit), true;
  if (array.type == "i1") return ForEach<std::int8_t>(array, visit), true;
  if (array.type == "u8") return ForEach<std::uint64_t>(array, visit), true;
  if (array.type == "u4") return ForEach<std::uint32_t>(array, visit), true;
  if (array.type == "u2") return ForEach<std::uint16_t>(array, visit), true;
  if (array.type == "u1" || array.type == "b1") return ForEach<std::uint8_t>(array, visit), true;
  return false;
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_ARRAY_VISIT_H_
