#include "core/logs/ring_buffer.h"

#include <initializer_list>
#include <optional>

#include "core/logs/array_blocks.h"
#include "core/logs/line_reader.h"

namespace lfiw::core {
namespace {

// The whole number that an attribute or an array of one number holds under the first of `names`.
std::optional<std::int64_t> StatedNumber(ArrayStore& store,
                                         std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto found = store.attributes().find(name); found != store.attributes().end()) {
      if (found->second == "True" || found->second == "true") return 1;
      if (found->second == "False" || found->second == "false") return 0;
      const std::optional<double> value = ParseNumber(found->second);
      if (value && *value >= 0.0 && *value < 1e15) return static_cast<std::int64_t>(*value);
    }
    if (!store.Has(name) || !store.arrays().at(name).unreadable.empty()) continue;
    const ArrayInfo& info = store.Info(name);
    if (!IsIntegerType(info.type) || info.rows() != 1 || info.row_items() != 1) continue;
    const auto values = ToIntegers(store.ReadAll(name, 1 << 10), Where(store, name));
    if (values.size() == 1 && values[0] >= 0) return values[0];
  }
  return std::nullopt;
}

}  // namespace

RingState ReadRingState(ArrayStore& store, std::int64_t rows, std::int64_t written) {
  const auto size = StatedNumber(store, {"size", "_size"});
  const auto next = StatedNumber(store, {"pos", "_pos", "ptr", "_ptr", "_next_idx", "_idx"});
  const auto full = StatedNumber(store, {"full", "_full"});
  if (size && *size > 0 && *size < rows) return {.rows = *size};
  if (!next || *next <= 0 || *next >= rows) return {.rows = written};
  const bool is_full = full ? *full != 0 : (size == rows || written > *next);
  if (!is_full) return {.rows = *next};
  return {.rows = rows, .oldest = *next};
}

}  // namespace lfiw::core
