#include "core/matrix_product.h"

#include <cblas.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/matrix.h"
#include "core/one_openmp_thread.h"
#include "core/rng.h"

namespace lfiw::core {
namespace {

using ConstRows = Eigen::Map<const MatrixF, 0, Eigen::OuterStride<>>;
using Rows = Eigen::Map<MatrixF, 0, Eigen::OuterStride<>>;

void EigenProduct(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                  const ProductOperand& a, const ProductOperand& b, Rows c) {
  const ConstRows left(a.data, a.transposed ? inner : rows, a.transposed ? rows : inner,
                       Eigen::OuterStride<>(a.stride));
  const ConstRows right(b.data, b.transposed ? columns : inner, b.transposed ? inner : columns,
                        Eigen::OuterStride<>(b.stride));
  if (a.transposed && b.transposed) {
    c.noalias() += left.transpose() * right.transpose();
  } else if (a.transposed) {
    c.noalias() += left.transpose() * right;
  } else if (b.transposed) {
    c.noalias() += left * right.transpose();
  } else {
    c.noalias() += left * right;
  }
}

ProductLibrary Choose() {
  constexpr auto kNames = EnumNames(ProductLibrary{});
  if (const char* wanted = std::getenv("LFIW_PRODUCTS")) {
    const auto found = std::ranges::find(kNames, std::string_view(wanted));
    if (found == kNames.end()) {
      Throw<ConfigError>("the environment variable LFIW_PRODUCTS is '{}'; it can be {}, {} or {}",
                         wanted, kNames[0], kNames[1], kNames[2]);
    }
    const auto library = static_cast<ProductLibrary>(found - kNames.begin());
    if (!ComputesRightProducts(library)) {
      Throw<ConfigError>("{} computes wrong matrix products on this CPU; unset LFIW_PRODUCTS",
                         wanted);
    }
    return library;
  }
  for (const ProductLibrary library : {ProductLibrary::kOneDnn, ProductLibrary::kOpenBlas}) {
    if (ComputesRightProducts(library)) return library;
  }
  return ProductLibrary::kEigen;
}

std::string OneDnnKernels() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
      return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core:
      return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "avx512_core_amx";
    default:
      return fmt::format("isa {:#x}", static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
  }
}

}  // namespace

void MatrixProductOf(ProductLibrary library, std::int64_t rows, std::int64_t inner,
                     std::int64_t columns, const ProductOperand& a, const ProductOperand& b,
                     float* c, std::int64_t c_stride, bool accumulate) {
  if (rows == 0 || columns == 0) return;
  const Rows out(c, rows, columns, Eigen::OuterStride<>(c_stride));
  if (inner == 0 || library == ProductLibrary::kEigen) {
    if (!accumulate) Rows(out).setZero();
    if (inner > 0) EigenProduct(rows, inner, columns, a, b, out);
    return;
  }
  const float keep = accumulate ? 1.0f : 0.0f;
  if (library == ProductLibrary::kOpenBlas) {
    const auto transpose = [](bool yes) { return yes ? CblasTrans : CblasNoTrans; };
    cblas_sgemm(CblasRowMajor, transpose(a.transposed), transpose(b.transposed),
                static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(inner), 1.0f,
                a.data, static_cast<int>(a.stride), b.data, static_cast<int>(b.stride), keep, c,
                static_cast<int>(c_stride));
    return;
  }
  const OneOpenMpThread one;
  const dnnl_status_t status =
      dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', rows, columns, inner, 1.0f,
                 a.data, a.stride, b.data, b.stride, keep, c, c_stride);
  if (status != dnnl_success) {
    Throw<NumericError>("oneDNN refuses a matrix product of [{}, {}] and [{}, {}] with status {}",
                        rows, inner, inner, columns, static_cast<int>(status));
  }
}

bool ComputesRightProducts(ProductLibrary library) {
  constexpr std::int64_t kSizes[][3] = {{1, 5, 1}, {37, 65, 83}, {48, 128, 17}, {130, 33, 64}};
  Stream stream(1, "products");
  const auto normal = [&stream](std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    stream.FillNormal(values);
    return values;
  };
  for (const auto& [rows, inner, columns] : kSizes) {
    const std::vector<float> a = normal(rows * inner), b = normal(inner * columns),
                             start = normal(rows * columns);
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        const ProductOperand left{a.data(), a_transposed ? rows : inner, a_transposed};
        const ProductOperand right{b.data(), b_transposed ? inner : columns, b_transposed};
        std::vector<float> c = start;
        MatrixProductOf(library, rows, inner, columns, left, right, c.data(), columns, true);
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) {
            const auto at = static_cast<std::size_t>(i * columns + j);
            double sum = start[at], size = std::abs(start[at]);
            for (std::int64_t k = 0; k < inner; ++k) {
              const double term =
                  static_cast<double>(
                      a[static_cast<std::size_t>(a_transposed ? k * rows + i : i * inner + k)]) *
                  static_cast<double>(
                      b[static_cast<std::size_t>(b_transposed ? j * inner + k : k * columns + j)]);
              sum += term;
              size += std::abs(term);
            }
            // every partial sum may be off by half a unit of its last place
            if (!(std::abs(c[at] - sum) <= 2e-6 * size)) return false;
          }
        }
      }
    }
  }
  return true;
}

ProductLibrary ChosenProductLibrary() {
  static const ProductLibrary library = Choose();
  return library;
}

std::string ProductLibraryText() {
  switch (ChosenProductLibrary()) {
    case ProductLibrary::kOneDnn: {
      const dnnl_version_t& version = *dnnl_version();
      return fmt::format("oneDNN {}.{}.{} {}", version.major, version.minor, version.patch,
                         OneDnnKernels());
    }
    case ProductLibrary::kOpenBlas:
      return openblas_get_config();
    case ProductLibrary::kEigen:
      break;
  }
  return fmt::format("Eigen {}.{}.{} {}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                     EIGEN_MINOR_VERSION, Eigen::SimdInstructionSetsInUse());
}

void MatrixProduct(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                   const ProductOperand& a, const ProductOperand& b, float* c,
                   std::int64_t c_stride, bool accumulate) {
  MatrixProductOf(ChosenProductLibrary(), rows, inner, columns, a, b, c, c_stride, accumulate);
}

}  // namespace lfiw::core
