#include "experiments/omniglot/area_average.h"

#include <algorithm>
#include <vector>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

// Sums of `in` [rows, from] over the `to` windows of each row, [rows, to]. A pixel is `to` units
// long and a window `from`, so that all overlaps are whole numbers.
template <class T>
std::vector<std::int64_t> SumWindows(std::span<const T> in, std::int64_t from, std::int64_t to) {
  const std::int64_t rows = std::ssize(in) / from;
  std::vector<std::int64_t> sums(static_cast<std::size_t>(rows * to), 0);
  for (std::int64_t x = 0; x < from; ++x) {
    for (std::int64_t w = x * to / from; w < to && w * from < (x + 1) * to; ++w) {
      const std::int64_t overlap =
          std::min((x + 1) * to, (w + 1) * from) - std::max(x * to, w * from);
      for (std::int64_t y = 0; y < rows; ++y) {
        sums[static_cast<std::size_t>(y * to + w)] +=
            overlap * static_cast<std::int64_t>(in[static_cast<std::size_t>(y * from + x)]);
      }
    }
  }
  return sums;
}

// [rows, columns] -> [columns, rows].
std::vector<std::int64_t> Transposed(const std::vector<std::int64_t>& in, std::int64_t columns) {
  const std::int64_t rows = std::ssize(in) / columns;
  std::vector<std::int64_t> out(in.size());
  for (std::int64_t i = 0; i < std::ssize(in); ++i) {
    out[static_cast<std::size_t>(i % columns * rows + i / columns)] =
        in[static_cast<std::size_t>(i)];
  }
  return out;
}

}  // namespace

void AverageAreas(std::span<const std::uint8_t> in, std::int64_t from, std::span<std::uint8_t> out,
                  std::int64_t to) {
  LFIW_ASSERT(1 <= to && to <= from && std::ssize(in) == from * from && std::ssize(out) == to * to);
  // along rows, then along columns
  const std::vector<std::int64_t> narrow = Transposed(SumWindows(in, from, to), to);
  const std::vector<std::int64_t> sums =
      Transposed(SumWindows(std::span<const std::int64_t>(narrow), from, to), to);
  const std::int64_t area = from * from;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>((2 * sums[i] + area) / (2 * area));
  }
}

}  // namespace lfiw::experiments
