#ifndef LFIW_CORE_BFLOAT16_PRODUCT_H_
#define LFIW_CORE_BFLOAT16_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/layers.h"

namespace lfiw::core {

// A row-major matrix whose values are rounded to bfloat16: the range of float, with 8 significant
// bits in place of 24. Rows begin a multiple of 32 values apart, which is what matrix units of CPUs
// (AMX) take at once, and are filled up with zeros.
class BFloat16Matrix {
 public:
  // Takes the values [rows, columns], whose rows begin `stride` floats apart, each rounded to the
  // nearest bfloat16. Keeps its memory from call to call.
  void Round(std::int64_t rows, std::int64_t columns, const float* values, std::int64_t stride);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t stride() const { return stride_; }  // values between the beginnings of rows
  const std::uint16_t* data() const { return data_.get(); }

 private:
  std::int64_t rows_ = 0, columns_ = 0, stride_ = 0;
  std::size_t capacity_ = 0;
  std::unique_ptr<std::uint16_t[], void (*)(void*)> data_{nullptr, nullptr};
};

// A rounded matrix, or its transpose.
struct BFloat16Operand {
  const BFloat16Matrix& matrix;
  bool transposed = false;
};

// c [rows, columns] = a [rows, inner] b [inner, columns], summed in float, plus c as it was if
// `accumulate`; the sizes are those of the operands. The rows of `c` begin `c_stride` values apart.
// Runs on one thread of the caller, by oneDNN. Throws NumericError where oneDNN refuses.
void BFloat16Product(const BFloat16Operand& a, const BFloat16Operand& b, float* c,
                     std::int64_t c_stride, bool accumulate = false);

// Whether oneDNN multiplies bfloat16 on this CPU and reproduces products of rounded values that
// were summed in double. Tried once per process.
bool HasBFloat16Products();

// Whether they are faster than those of float here, as they are where the CPU has a matrix unit
// (AMX).
bool HasFastBFloat16Products();

}  // namespace lfiw::core

#endif  // LFIW_CORE_BFLOAT16_PRODUCT_H_
