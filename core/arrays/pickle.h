#ifndef LFIW_CORE_ARRAYS_PICKLE_H_
#define LFIW_CORE_ARRAYS_PICKLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/arrays/npz.h"

namespace lfiw::core {

// A value of Python, plain data only. Tuples and sets are lists; bytes are text.
struct PickleValue {
  struct None {};
  using List = std::vector<PickleValue>;
  struct Item;
  using Dict = std::vector<Item>;
  // What a pickle says of an instance of a class, of which nothing was run: the class, what it
  // would be made from, and the state that it would be given (none or one value). A class or a
  // function itself has a name alone.
  struct Object {
    std::string type;  // "gymnasium.spaces.box.Box"
    List arguments;
    List state;
  };
  std::variant<None, bool, std::int64_t, double, std::string, NpzArray, List, Dict, Object> value;
};

// An item of a dictionary.
struct PickleValue::Item {
  PickleValue key, value;
};

// What else than plain data and numpy arrays is read.
struct PickleOptions {
  // Other classes and functions become PickleValue::Object instead of an error, and integers of
  // more than 8 bytes a text that says so.
  bool objects = false;
  // Returns the bytes of a storage of PyTorch by its key in the archive; there must be as many as
  // the second argument says. With it, tensors are arrays.
  std::function<std::string(const std::string&, std::int64_t)> storage = {};
};

// Reads a pickle (protocols 2 to 5) of dictionaries, lists, tuples, strings, numbers and numpy
// arrays of plain numbers without running anything: any other class or function that the file names
// is refused. Hostile input is safe: sizes are checked before allocation, and time and memory are
// bounded by a multiple of the input's. Throws DataError that names `source`, the byte and what is
// there.
PickleValue ParsePickle(std::string_view bytes, const std::string& source,
                        const PickleOptions& options = {});

// The value of a key that is a text, in a dictionary or in the dictionary that is an object's
// state; nullptr where there is none.
const PickleValue* FindKey(const PickleValue& value, std::string_view key);

// The arrays, texts and numbers (as arrays of one item) of a dictionary whose keys are texts.
// Throws DataError, naming `source`, for any other value.
NpzFile ArraysOfDict(const PickleValue& value, const std::string& source);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_PICKLE_H_
