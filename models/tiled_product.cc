#include "models/tiled_product.h"

namespace lfiw::models {
namespace {

using Lane = Eigen::Array<float, kLane, 1>;
using ConstLaneMap = Eigen::Map<const Lane, Eigen::Aligned64>;
using LaneMap = Eigen::Map<Lane, Eigen::Aligned64>;

struct Product {
  std::int64_t inner;
  std::int64_t columns;
  StridedMatrix a;
  const float* b;
  const float* start;
  float* out;
};

// One tile of `Rows` rows and `Lanes` lanes, whose sums stay in registers.
template <int Rows, int Lanes>
void ComputeTile(const Product& p, std::int64_t row, std::int64_t column) {
  Lane sums[Rows][Lanes];
  for (int r = 0; r < Rows; ++r) {
    for (int l = 0; l < Lanes; ++l) {
      if (p.start != nullptr) {
        sums[r][l] = ConstLaneMap(p.start + column + l * kLane);
      } else {
        sums[r][l].setZero();
      }
    }
  }
  const float* a = p.a.data + row * p.a.row_stride;
  const float* b = p.b + column;
  for (std::int64_t k = 0; k < p.inner; ++k, a += p.a.column_stride, b += p.columns) {
    Lane values[Lanes];
    for (int l = 0; l < Lanes; ++l) values[l] = ConstLaneMap(b + l * kLane);
    for (int r = 0; r < Rows; ++r) {
      const float factor = a[r * p.a.row_stride];
      for (int l = 0; l < Lanes; ++l) sums[r][l] += factor * values[l];
    }
  }
  float* out = p.out + row * p.columns + column;
  for (int r = 0; r < Rows; ++r) {
    for (int l = 0; l < Lanes; ++l) LaneMap(out + r * p.columns + l * kLane) = sums[r][l];
  }
}

// All columns of `Rows` rows, in tiles of `Lanes` lanes as long as they fit.
template <int Rows, int Lanes>
void ComputeRows(const Product& p, std::int64_t row) {
  std::int64_t column = 0;
  for (; column + Lanes * kLane <= p.columns; column += Lanes * kLane) {
    ComputeTile<Rows, Lanes>(p, row, column);
  }
  for (; column < p.columns; column += kLane) ComputeTile<Rows, 1>(p, row, column);
}

}  // namespace

void TiledProduct(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                  const StridedMatrix& a, const float* b, const float* start, float* out) {
  constexpr int kTileRows = 8;
  const Product product{inner, columns, a, b, start, out};
  std::int64_t row = 0;
  for (; row + kTileRows <= rows; row += kTileRows) ComputeRows<kTileRows, 2>(product, row);
  // a single row needs more lanes at once to hide the latency of the sums
  for (; row < rows; ++row) ComputeRows<1, 4>(product, row);
}

}  // namespace lfiw::models
