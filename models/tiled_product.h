#ifndef LFIW_MODELS_TILED_PRODUCT_H_
#define LFIW_MODELS_TILED_PRODUCT_H_

#include <cstdint>

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

// Columns of every operand are padded to whole lanes, so that the product needs no tails.
inline constexpr std::int64_t kLane = 16;
constexpr std::int64_t PadToLane(std::int64_t columns) {
  return (columns + kLane - 1) / kLane * kLane;
}

// Element (i, k) is data[i * row_stride + k * column_stride]: a matrix or its transpose.
struct StridedMatrix {
  const float* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

// out[i, j] = start[j] + sum_k a(i, k) b[k, j] for i < rows, k < inner, j < columns.
// `b` [inner, columns] and `out` [rows, columns] are contiguous, `start` [columns] may be null
// (zeros); all three are aligned to a lane (64 bytes), `columns` is a multiple of kLane.
//
// Every element is summed in the order of k whatever `rows` is: the result of a row does not depend
// on the batch it is computed in, which a general GEMM does not promise. At the sizes of a policy
// (64 x 64) it is also faster, because nothing is packed.
void TiledProduct(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                  const StridedMatrix& a, const float* b, const float* start, float* out);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TILED_PRODUCT_H_
