#ifndef LFIW_POLICIES_NORMAL_DENSITY_H_
#define LFIW_POLICIES_NORMAL_DENSITY_H_

#include "core/layers.h"

namespace lfiw::policies {

// log of the standard normal distribution function, accurate in both tails (relative error below
// 1e-11 for every finite z).
double LogNormalCdf(double z);

// log-density of N(mean, scale^2) at x.
double LogNormalDensity(double x, double mean, double scale);

// log-density of a normal draw that was clipped to [low, high]: at a bound (or beyond it) the log
// of the tail's mass, inside the density of the draw. Bounds may be infinite.
double LogCensoredDensity(double x, double mean, double scale, double low, double high);

// A normal draw u ~ N(mean, scale^2) squashed to center + half_range * tanh(u).
struct SquashedNormal {
  double mean;
  double scale;
  double center = 0.0;
  double half_range = 1.0;
};

// log-density of a squashed draw at `x`, clipped to [low, high] as above. Actions are floats, and
// tanh(u) is exactly +-1 in float once |u| > atanh(1 - 2^-25) = 9.01: an action at the end of the
// squashed range is taken as the event that this happened and gets the log of that tail's mass, so
// it is finite and the same for identical policies. Beyond the range (by more than rounding):
// -infinity.
double LogSquashedDensity(double x, const SquashedNormal& draw, double low, double high);

// The draw that squashing took to `unit` in [-1, 1]: atanh, where |unit| rounds to 1 in float
// +-atanh(1 - 2^-25).
double UnsquashDraw(double unit);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_NORMAL_DENSITY_H_
