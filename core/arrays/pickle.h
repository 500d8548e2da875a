#ifndef LFIW_CORE_ARRAYS_PICKLE_H_
#define LFIW_CORE_ARRAYS_PICKLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/arrays/npz.h"

namespace lfiw::core {

// A value of Python, plain data only. Tuples and sets are lists; bytes are text.
struct PickleValue {
  struct None {};
  using List = std::vector<PickleValue>;
  using Dict = std::vector<std::pair<PickleValue, PickleValue>>;
  std::variant<None, bool, std::int64_t, double, std::string, NpzArray, List, Dict> value;
};

// Reads a pickle (protocols 2 to 5) of dictionaries, lists, tuples, strings, numbers and numpy
// arrays of plain numbers without running anything: any other class or function that the file names
// is refused. Hostile input is safe: sizes are checked before allocation, and time and memory are
// bounded by a multiple of the input's. Throws DataError that names `source`, the byte and what is
// there.
PickleValue ParsePickle(std::string_view bytes, const std::string& source);

// The arrays, texts and numbers (as arrays of one item) of a dictionary whose keys are texts.
// Throws DataError, naming `source`, for any other value.
NpzFile ArraysOfDict(const PickleValue& value, const std::string& source);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_PICKLE_H_
