#ifndef LFIW_CORE_NEAREST_NAME_H_
#define LFIW_CORE_NEAREST_NAME_H_

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace lfiw::core {

// Returns the Levenshtein distance: the number of insertions, deletions and substitutions of single
// characters that turn `a` into `b`.
std::size_t EditDistance(std::string_view a, std::string_view b);

// Returns the index of the entry of `names` that a misspelled `name` most likely means: the one at
// the smallest edit distance, the first of equals. An entry that holds `name` (of at least four
// characters) as a part counts as one edit away. Returns nothing if none is within `max_distance`.
std::optional<std::size_t> NearestName(
    std::string_view name, std::span<const std::string_view> names,
    std::size_t max_distance = std::numeric_limits<std::size_t>::max());

}  // namespace lfiw::core

#endif  // LFIW_CORE_NEAREST_NAME_H_
