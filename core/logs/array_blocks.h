#ifndef LFIW_CORE_LOGS_ARRAY_BLOCKS_H_
#define LFIW_CORE_LOGS_ARRAY_BLOCKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays/array_store.h"
#include "core/logs/log_keys.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// Rows first .. first + count - 1 of one array, read in blocks, for the readers of array logs. All
// throw DataError that names file and array.

// "log.npz: array 'rewards'".
std::string Where(const ArrayStore& store, const std::string& key);

MatrixF ReadMatrix(ArrayStore& store, const std::string& key, std::int64_t first,
                   std::int64_t count);
std::vector<double> ReadDoubles(ArrayStore& store, const std::string& key, std::int64_t first,
                                std::int64_t count);
std::vector<std::int64_t> ReadIntegers(ArrayStore& store, const std::string& key,
                                       std::int64_t first, std::int64_t count);
// Flags are booleans or the numbers 0 and 1.
std::vector<std::uint8_t> ReadFlags(ArrayStore& store, const std::string& key, std::int64_t first,
                                    std::int64_t count);

// True if row `a` of `x` is row `b` of `y` up to rounding; NaN counts as equal.
bool SameRow(const MatrixF& x, std::int64_t a, const MatrixF& y, std::int64_t b);

// Fills format, dimensions and the number of discrete actions: whole-number actions of one number a
// step are discrete, 0 to the largest that occurs.
void FillDims(ArrayStore& store, const LogKeys& keys, std::int64_t obs_items,
              std::int64_t action_items, LogInfo& info);

inline constexpr const char* kNoTerminals =
    "the file does not mark terminal states: all episodes count as cut by a limit";

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_ARRAY_BLOCKS_H_
