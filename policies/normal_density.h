#ifndef LFIW_POLICIES_NORMAL_DENSITY_H_
#define LFIW_POLICIES_NORMAL_DENSITY_H_

namespace lfiw {

// log of the standard normal distribution function, accurate in both tails (relative error below
// 1e-11 for every finite z).
double LogNormalCdf(double z);

// log-density of N(mean, scale^2) at x.
double LogNormalDensity(double x, double mean, double scale);

// log-density of a normal draw that was clipped to [low, high]: at a bound (or beyond it) the log
// of the tail's mass, inside the density of the draw. Bounds may be infinite.
double LogCensoredDensity(double x, double mean, double scale, double low, double high);

}  // namespace lfiw

#endif  // LFIW_POLICIES_NORMAL_DENSITY_H_
