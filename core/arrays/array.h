#ifndef LFIW_CORE_ARRAYS_ARRAY_H_
#define LFIW_CORE_ARRAYS_ARRAY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "core/arrays/array_memory.h"
#include "core/error.h"

namespace lfiw::core {

// A dense array of fixed rank that owns its values in row-major order (last index fastest).
// Every access names one index for each axis; builds without NDEBUG check that it lies inside the
// shape. Shapes are part of each function's contract.
template <class T, std::size_t Rank>
class Array {
 public:
  using Shape = std::array<std::int64_t, Rank>;

  Array() : shape_{} {}
  explicit Array(const Shape& shape, T fill = T{})
      : shape_(shape), values_(static_cast<std::size_t>(Count(shape)), fill) {}

  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  bool empty() const { return values_.empty(); }

  template <class... Index>
  T& operator()(Index... index) {
    return values_[ItemOffset(index...)];
  }
  template <class... Index>
  const T& operator()(Index... index) const {
    return values_[ItemOffset(index...)];
  }

  // The contiguous values of the last axis at the given leading indices.
  template <class... Index>
  std::span<T> Row(Index... index) {
    return std::span<T>(values_).subspan(RowOffset(index...), Last());
  }
  template <class... Index>
  std::span<const T> Row(Index... index) const {
    return std::span<const T>(values_).subspan(RowOffset(index...), Last());
  }

  std::span<T> flat() { return values_; }
  std::span<const T> flat() const { return values_; }

  bool operator==(const Array&) const = default;

 private:
  static std::int64_t Count(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::size_t Last() const { return static_cast<std::size_t>(shape_[Rank - 1]); }
  // Returns the place of an item in the flat values. The first `Checked` indices must lie inside.
  template <std::size_t Checked>
  std::size_t Offset(const Shape& index) const {
#ifndef NDEBUG
    for (std::size_t k = 0; k < Checked; ++k) LFIW_ASSERT(index[k] >= 0 && index[k] < shape_[k]);
#endif
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < Rank; ++k) offset = offset * shape_[k] + index[k];
    return static_cast<std::size_t>(offset);
  }
  template <class... Index>
  std::size_t ItemOffset(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "an item has one index for each axis");
    return Offset<Rank>({static_cast<std::int64_t>(index)...});
  }
  template <class... Index>
  std::size_t RowOffset(Index... index) const {
    static_assert(sizeof...(Index) + 1 == Rank, "a row has one index for each axis but the last");
    return Offset<Rank - 1>({static_cast<std::int64_t>(index)..., std::int64_t{0}});
  }

  Shape shape_;
  std::vector<T, ArrayAllocator<T>> values_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_ARRAY_H_
