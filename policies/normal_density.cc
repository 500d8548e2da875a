#include "policies/normal_density.h"

#include <cmath>
#include <numbers>

namespace lfiw {
namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

}  // namespace

double LogNormalCdf(double z) {
  if (z > 0.0) return std::log1p(-0.5 * std::erfc(z / std::numbers::sqrt2));
  // erfc keeps its relative accuracy down to z = -37, where it becomes subnormal
  if (z > -30.0) return std::log(0.5 * std::erfc(-z / std::numbers::sqrt2));
  // Mills' ratio: phi(z) / -z times 1 - 1/z^2 + 3/z^4 - 15/z^6 + 105/z^8
  const double u = 1.0 / (z * z);
  const double tail = -u * (1.0 - u * (3.0 - u * (15.0 - u * 105.0)));
  return -0.5 * z * z - std::log(-z) - kHalfLogTwoPi + std::log1p(tail);
}

double LogNormalDensity(double x, double mean, double scale) {
  const double z = (x - mean) / scale;
  return -0.5 * z * z - std::log(scale) - kHalfLogTwoPi;
}

double LogCensoredDensity(double x, double mean, double scale, double low, double high) {
  if (x <= low) return LogNormalCdf((low - mean) / scale);
  if (x >= high) return LogNormalCdf((mean - high) / scale);
  return LogNormalDensity(x, mean, scale);
}

}  // namespace lfiw
