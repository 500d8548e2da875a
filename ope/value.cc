#include "ope/value.h"

#include <cstddef>

#include "core/error.h"

namespace lfiw::ope {

std::vector<double> StepFactors(const ValueOptions& options, std::int64_t steps) {
  if (!(options.discount >= 0.0 && options.discount <= 1.0)) {
    Throw<ConfigError>("value.discount: {} is not in [0, 1]", options.discount);
  }
  std::vector<double> factors;
  factors.reserve(static_cast<std::size_t>(steps));
  double factor = 1.0, sum = 0.0;
  for (std::int64_t t = 0; t < steps; ++t) {
    factors.push_back(factor);
    sum += factor;
    factor *= options.discount;
  }
  if (options.scale == ValueScale::kNormalized) {
    for (double& value : factors) value /= sum;
  }
  return factors;
}

void TailReturns(std::span<const double> rewards, std::span<const double> factors,
                 std::span<double> tails) {
  LFIW_ASSERT(rewards.size() == factors.size() && tails.size() == rewards.size() + 1);
  double sum = 0.0;
  tails[rewards.size()] = sum;
  for (std::size_t t = rewards.size(); t-- > 0;) {
    sum += factors[t] * rewards[t];
    tails[t] = sum;
  }
}

}  // namespace lfiw::ope
