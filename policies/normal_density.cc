#include "policies/normal_density.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lfiw::policies {
namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// numbers above round to 1 in float
constexpr double kSquashEdge = 1.0 - 0x1p-25;
// what rounding in float can add to the end of a range
constexpr double kSquashSlack = 0x1p-22;

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

double LogSquashedDensity(double x, const SquashedNormal& draw, double low, double high) {
  const auto unit = [&](double value) { return (value - draw.center) / draw.half_range; };
  const double y = unit(x);
  if (std::abs(y) > 1.0 + kSquashSlack) return -std::numeric_limits<double>::infinity();
  // clipping and rounding both gather a tail in one point
  const double low_end = std::clamp(unit(low), -kSquashEdge, kSquashEdge);
  const double high_end = std::clamp(unit(high), -kSquashEdge, kSquashEdge);
  if (y <= low_end) return LogNormalCdf((UnsquashDraw(low_end) - draw.mean) / draw.scale);
  if (y >= high_end) return LogNormalCdf((draw.mean - UnsquashDraw(high_end)) / draw.scale);
  return LogNormalDensity(std::atanh(y), draw.mean, draw.scale) -
         std::log(draw.half_range * (1.0 - y) * (1.0 + y));
}

double UnsquashDraw(double unit) { return std::atanh(std::clamp(unit, -kSquashEdge, kSquashEdge)); }

}  // namespace lfiw::policies
