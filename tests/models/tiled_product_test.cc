#include "models/tiled_product.h"

#include <gtest/gtest.h>

#include "core/rng.h"

namespace lfiw::models {
namespace {

MatrixF NormalMatrix(std::int64_t rows, std::int64_t columns, std::uint64_t index) {
  MatrixF m(rows, columns);
  Stream(1, "matrix", {index}).FillNormal(std::span<float>(m.data(), std::size_t(m.size())));
  return m;
}

TEST(TiledProduct, EqualsTheTripleLoop) {
  for (const std::int64_t rows : {1, 7, 8, 19}) {
    for (const std::int64_t columns : {16, 48, 64, 112}) {
      const MatrixF a = NormalMatrix(rows, 13, 0), b = NormalMatrix(13, columns, 1);
      const MatrixF start = NormalMatrix(1, columns, 2);
      MatrixF out(rows, columns);
      TiledProduct(rows, 13, columns, {a.data(), 13, 1}, b.data(), start.data(), out.data());
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          double sum = start(0, j);
          for (std::int64_t k = 0; k < 13; ++k) sum += double{a(i, k)} * double{b(k, j)};
          EXPECT_NEAR(out(i, j), sum, 1e-5);
        }
      }
    }
  }
}

TEST(TiledProduct, ReadsATransposeThroughItsStrides) {
  const MatrixF a = NormalMatrix(9, 11, 0), b = NormalMatrix(11, 32, 1);
  const MatrixF transposed = a.transpose();
  MatrixF direct(9, 32), strided(9, 32);
  TiledProduct(9, 11, 32, {a.data(), 11, 1}, b.data(), nullptr, direct.data());
  TiledProduct(9, 11, 32, {transposed.data(), 1, 9}, b.data(), nullptr, strided.data());
  EXPECT_EQ(direct, strided);
}

TEST(TiledProduct, RowIsTheSameInEveryBatchToTheBit) {
  for (const std::int64_t columns : {16, 64, 80}) {
    const MatrixF a = NormalMatrix(21, 64, 0), b = NormalMatrix(64, columns, 1);
    MatrixF all(21, columns), one(1, columns);
    TiledProduct(21, 64, columns, {a.data(), 64, 1}, b.data(), nullptr, all.data());
    for (std::int64_t i = 0; i < 21; ++i) {
      TiledProduct(1, 64, columns, {a.row(i).data(), 64, 1}, b.data(), nullptr, one.data());
      EXPECT_EQ(one.row(0), all.row(i));
    }
  }
}

}  // namespace
}  // namespace lfiw::models
