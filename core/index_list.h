#ifndef LFIW_CORE_INDEX_LIST_H_
#define LFIW_CORE_INDEX_LIST_H_

#include <cstddef>
#include <numeric>
#include <vector>

namespace lfiw::core {

// Returns begin, begin + 1, ..., end - 1.
template <class Index>
std::vector<Index> IndexList(Index begin, Index end) {
  std::vector<Index> indices(static_cast<std::size_t>(end - begin));
  std::iota(indices.begin(), indices.end(), begin);
  return indices;
}

// Returns 0, 1, ..., count - 1.
template <class Index>
std::vector<Index> IndexList(Index count) {
  return IndexList(Index{0}, count);
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_INDEX_LIST_H_
