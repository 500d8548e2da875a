#ifndef LFIW_OPE_VALUE_H_
#define LFIW_OPE_VALUE_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"

namespace lfiw::ope {

// kSum: the discounted sum of rewards. kNormalized: that sum divided by the sum of the discounts,
// the mean reward per step.
enum class ValueScale { kSum, kNormalized };
constexpr auto EnumNames(ValueScale /*kind*/) {
  return std::to_array<std::string_view>({"sum", "normalized"});
}
// The British spelling, for files that have it.
constexpr auto OtherEnumNames(ValueScale /*kind*/) {
  return std::to_array<std::string_view>({"sum", "normalised"});
}

// What "the value of a policy" means. The horizon T is the length of the arrays of an estimate; all
// rows of one table, and their truth, share these options.
struct ValueOptions {
  double discount = 1.0;
  ValueScale scale = ValueScale::kSum;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("discount", discount, "factor per step", Between(0.0, 1.0));
    v.Field("scale", scale, "sum of rewards, or mean reward per step");
  }
};

// Factor of each step's reward in the value, [steps]: discount^t, divided by the sum of the
// discounts on the normalized scale. Throws ConfigError when the discount is outside [0, 1].
std::vector<double> StepFactors(const ValueOptions& options, std::int64_t steps);

// tails[t] = sum over k >= t of factors[k] * rewards[k]; rewards, factors [T], tails [T + 1]
// (written). tails[0] is the return of the episode. Summed from the end, here and everywhere, so
// that a weighted estimate at H = 0 has the bytes of the plain one.
void TailReturns(std::span<const double> rewards, std::span<const double> factors,
                 std::span<double> tails);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_VALUE_H_
