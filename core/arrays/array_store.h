#ifndef LFIW_CORE_ARRAYS_ARRAY_STORE_H_
#define LFIW_CORE_ARRAYS_ARRAY_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/npz_array.h"
#include "core/matrix.h"

namespace lfiw::core {

// What a file says of one of its arrays. `type` as in NpzArray; an array that cannot be read has
// its reason instead, such as "pickled objects".
struct ArrayInfo {
  std::string type;
  std::vector<std::int64_t> shape;
  std::string unreadable = {};

  std::int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  // Items of one row: the product of the sizes after the first.
  std::int64_t row_items() const;
};

// A file of named arrays that are read in blocks of rows (of the first dimension), so that a file
// larger than memory can be read. Reading rows in increasing order is fast, going back may start
// the array again. All members throw DataError that names the file and the array.
class ArrayStore {
 public:
  virtual ~ArrayStore() = default;
  virtual const std::string& path() const = 0;
  // "HDF5" or "npz".
  virtual const char* kind() const = 0;
  // By name; HDF5 names are relative to the root: "infos/qpos".
  virtual const std::map<std::string, ArrayInfo>& arrays() const = 0;
  // Scalar attributes as text, by "NAME" of the root or "GROUP@NAME"; empty for npz.
  virtual const std::map<std::string, std::string>& attributes() const = 0;
  // Rows first .. first + count - 1, which must exist. The shape's first size is `count`.
  virtual NpzArray ReadRows(const std::string& name, std::int64_t first, std::int64_t count) = 0;

  bool Has(const std::string& name) const { return arrays().contains(name); }
  // Throws DataError that lists the arrays when `name` is missing or cannot be read.
  const ArrayInfo& Info(const std::string& name) const;
  // A whole array. Throws DataError if it needs more than `max_bytes`.
  NpzArray ReadAll(const std::string& name, std::int64_t max_bytes = std::int64_t{1} << 29);
};

// The items of a numeric or boolean array, flat. Throws DataError, naming `where`, for text.
std::vector<double> ToDoubles(const NpzArray& array, std::string_view where);
// The same for integers and booleans only.
std::vector<std::int64_t> ToIntegers(const NpzArray& array, std::string_view where);
// Rows [n, items of a row] of a numeric array, rounded to float.
MatrixF ToMatrix(const NpzArray& array, std::string_view where);

// True for the types of whole numbers and booleans.
bool IsIntegerType(std::string_view type);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_ARRAY_STORE_H_
