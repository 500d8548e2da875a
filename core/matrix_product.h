#ifndef LFIW_CORE_MATRIX_PRODUCT_H_
#define LFIW_CORE_MATRIX_PRODUCT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/layers.h"

namespace lfiw::core {

// Who computes the products of networks. All three run on one thread of the caller.
enum class ProductLibrary { kOneDnn, kOpenBlas, kEigen };

constexpr auto EnumNames(ProductLibrary /*kind*/) {
  return std::to_array<std::string_view>({"onednn", "openblas", "eigen"});
}

// A row-major matrix of floats whose rows begin `stride` values apart, or its transpose.
struct ProductOperand {
  const float* data;
  std::int64_t stride;
  bool transposed = false;
};

// c [rows, columns] = a [rows, inner] b [inner, columns], plus c as it was if `accumulate`. The
// rows of `c` begin `c_stride` values apart. Without `inner` the product is zero.
//
// The library is chosen once per process: the one named by the environment variable LFIW_PRODUCTS,
// otherwise oneDNN, which generates its kernels for the features that the CPU has and not by its
// model number; a CPU that is newer than the library is served as well. Every library must first
// reproduce products that were computed in double; one that does not is passed over. Throws
// ConfigError if LFIW_PRODUCTS names no library or one that computes wrongly here.
void MatrixProduct(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                   const ProductOperand& a, const ProductOperand& b, float* c,
                   std::int64_t c_stride, bool accumulate = false);

// The same by a library of the caller's choice, unchecked.
void MatrixProductOf(ProductLibrary library, std::int64_t rows, std::int64_t inner,
                     std::int64_t columns, const ProductOperand& a, const ProductOperand& b,
                     float* c, std::int64_t c_stride, bool accumulate);

// The library that MatrixProduct chose.
ProductLibrary ChosenProductLibrary();

// Its name, version and kernels, which decide the last bits of results: "oneDNN 2.6.3 avx512_core".
std::string ProductLibraryText();

// Whether the library reproduces products of odd and even sizes, of both operands and their
// transposes, to the precision of float.
bool ComputesRightProducts(ProductLibrary library);

}  // namespace lfiw::core

#endif  // LFIW_CORE_MATRIX_PRODUCT_H_
