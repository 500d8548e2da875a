#include "core/bfloat16_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <map>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "core/error.h"
#include "core/one_openmp_thread.h"
#include "core/rng.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kRowUnit = 32;   // values
constexpr std::size_t kCacheLine = 64;  // bytes
using DataType = dnnl::memory::data_type;

const dnnl::engine& Cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& ThreadStream() {
  thread_local dnnl::stream stream(Cpu());
  return stream;
}

// oneDNN's description of values whose rows begin `stride` values apart.
dnnl::memory::desc Described(std::int64_t rows, std::int64_t columns, DataType type,
                             std::int64_t stride, bool transposed = false) {
  const dnnl::memory::dims strides =
      transposed ? dnnl::memory::dims{1, stride} : dnnl::memory::dims{stride, 1};
  return {{rows, columns}, type, strides};
}

// oneDNN takes no const pointers, also of what it only reads.
void* Unconst(const void* data) {
  return const_cast<void*>(data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

struct Shape {
  std::int64_t rows, inner, columns;
  std::int64_t a_stride;
  bool a_transposed;
  std::int64_t b_stride;
  bool b_transposed;
  std::int64_t c_stride;
  bool accumulate;
  auto operator<=>(const Shape&) const = default;  // NOLINT(modernize-use-nullptr)
};

// A product of one shape, ready to run: to describe it to oneDNN takes as long as a small product.
class Kernel {
 public:
  explicit Kernel(const Shape& shape)
      : a_(Described(shape.rows, shape.inner, DataType::bf16, shape.a_stride, shape.a_transposed),
           Cpu(), nullptr),
        b_(Described(shape.inner, shape.columns, DataType::bf16, shape.b_stride,
                     shape.b_transposed),
           Cpu(), nullptr),
        c_(Described(shape.rows, shape.columns, DataType::f32, shape.c_stride), Cpu(), nullptr),
        product_(Description(shape.accumulate)) {}

  void Run(const void* a, const void* b, float* c) {
    a_.set_data_handle(Unconst(a));
    b_.set_data_handle(Unconst(b));
    c_.set_data_handle(c);
    product_.execute(ThreadStream(),
                     {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}});
  }

 private:
  dnnl::matmul::primitive_desc Description(bool accumulate) const {
    dnnl::primitive_attr attributes;
    if (accumulate) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attributes.set_post_ops(sum);
    }
    return {{a_.get_desc(), b_.get_desc(), c_.get_desc()}, attributes, Cpu()};
  }

  dnnl::memory a_, b_, c_;
  dnnl::matmul product_;
};

// The calling thread's kernel of a shape.
Kernel& KernelOf(const Shape& shape) {
  constexpr std::size_t kMostKernels = 256;
  thread_local std::map<Shape, Kernel> kernels;
  const auto found = kernels.find(shape);
  if (found != kernels.end()) return found->second;
  if (kernels.size() == kMostKernels) kernels.clear();
  return kernels.emplace(shape, Kernel(shape)).first->second;
}

std::int64_t OperandRows(const BFloat16Operand& x) {
  return x.transposed ? x.matrix.columns() : x.matrix.rows();
}
std::int64_t OperandColumns(const BFloat16Operand& x) {
  return x.transposed ? x.matrix.rows() : x.matrix.columns();
}

float ToFloat(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

// One product of each pair of orientations, against sums in double of the rounded values.
bool ReproducesProducts(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  Stream stream(1, "bfloat16 products");
  const auto rounded = [&stream](std::int64_t n, std::int64_t m) {
    std::vector<float> values(static_cast<std::size_t>(n * m));
    stream.FillNormal(values);
    BFloat16Matrix matrix;
    matrix.Round(n, m, values.data(), m);
    return matrix;
  };
  const auto at = [](const BFloat16Operand& x, std::int64_t i, std::int64_t j) {
    const BFloat16Matrix& m = x.matrix;
    return static_cast<double>(
        ToFloat(m.data()[x.transposed ? j * m.stride() + i : i * m.stride() + j]));
  };
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      const BFloat16Matrix left = a_transposed ? rounded(inner, rows) : rounded(rows, inner);
      const BFloat16Matrix right = b_transposed ? rounded(columns, inner) : rounded(inner, columns);
      const BFloat16Operand a{left, a_transposed}, b{right, b_transposed};
      std::vector<float> c(static_cast<std::size_t>(rows * columns), 0.5f);
      BFloat16Product(a, b, c.data(), columns, true);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          double sum = 0.5, size = 0.5;
          for (std::int64_t k = 0; k < inner; ++k) {
            const double term = at(a, i, k) * at(b, k, j);
            sum += term;
            size += std::abs(term);
          }
          // every partial sum may be off by half a unit of float's last place
          if (!(std::abs(c[static_cast<std::size_t>(i * columns + j)] - sum) <= 2e-6 * size)) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

}  // namespace

void BFloat16Matrix::Round(std::int64_t rows, std::int64_t columns, const float* values,
                           std::int64_t stride) {
  if (rows != rows_ || columns != columns_) {
    rows_ = rows;
    columns_ = columns;
    stride_ = (columns + kRowUnit - 1) / kRowUnit * kRowUnit;
    const auto size = static_cast<std::size_t>(rows * stride_);
    if (size > capacity_) {
      const std::size_t bytes =
          (size * sizeof(std::uint16_t) + kCacheLine - 1) / kCacheLine * kCacheLine;
      void* memory = std::aligned_alloc(kCacheLine, bytes);
      if (memory == nullptr) throw std::bad_alloc();
      data_ = {static_cast<std::uint16_t*>(memory), std::free};
      capacity_ = size;
    }
    std::fill_n(data_.get(), size, std::uint16_t{0});
  }
  if (rows == 0 || columns == 0) return;
  const OneOpenMpThread one;
  dnnl::memory from(Described(rows, columns, DataType::f32, stride), Cpu(), Unconst(values));
  dnnl::memory to(Described(rows, columns, DataType::bf16, stride_), Cpu(), data_.get());
  dnnl::reorder(from, to).execute(ThreadStream(), from, to);
}

void BFloat16Product(const BFloat16Operand& a, const BFloat16Operand& b, float* c,
                     std::int64_t c_stride, bool accumulate) {
  const std::int64_t rows = OperandRows(a), inner = OperandColumns(a), columns = OperandColumns(b);
  LFIW_ASSERT(OperandRows(b) == inner);
  if (rows == 0 || columns == 0) return;
  if (inner == 0) {
    if (accumulate) return;
    for (std::int64_t i = 0; i < rows; ++i) std::fill_n(c + i * c_stride, columns, 0.0f);
    return;
  }
  const OneOpenMpThread one;
  const Shape shape = {
      rows,         inner,    columns,   a.matrix.stride(), a.transposed, b.matrix.stride(),
      b.transposed, c_stride, accumulate};
  try {
    KernelOf(shape).Run(a.matrix.data(), b.matrix.data(), c);
  } catch (const dnnl::error& error) {
    Throw<NumericError>(
        "oneDNN refuses a bfloat16 product of [{}, {}] and [{}, {}] with status {}; set "
        "precision=float",
        rows, inner, inner, columns, static_cast<int>(error.status));
  }
}

bool HasBFloat16Products() {
  static const bool has = [] {
    try {
      return ReproducesProducts(1, 5, 1) && ReproducesProducts(37, 65, 83) &&
             ReproducesProducts(48, 128, 17) && ReproducesProducts(130, 33, 64);
    } catch (const NumericError&) {
      return false;
    } catch (const dnnl::error&) {  // no rounding to bfloat16
      return false;
    }
  }();
  return has;
}

bool HasFastBFloat16Products() {
  const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  const auto amx = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_amx);
  return (isa & amx) == amx && HasBFloat16Products();
}

}  // namespace lfiw::core
