#ifndef LFIW_OPE_INTERVALS_H_
#define LFIW_OPE_INTERVALS_H_

#include <array>
#include <span>
#include <string>

#include "core/visitor.h"

namespace lfiw {

// What an interval accounts for, from the narrowest to the widest.
enum class IntervalMethod { kMonteCarlo, kClassifierBootstrap, kPipelineBootstrap };
template <>
struct EnumNames<IntervalMethod> {
  static constexpr std::array names = {"monte_carlo", "classifier_bootstrap", "pipeline_bootstrap"};
};

// A two-sided interval for the value. With too little data to say anything it is (-inf, inf), and
// `covers` says so.
struct Interval {
  double low = 0.0;
  double high = 0.0;
  IntervalMethod method = IntervalMethod::kMonteCarlo;
  double level = 0.95;
  std::string covers;  // in words: what varied, and what the interval leaves out
};

// From the estimates of R repetitions of the rollouts: mean +- t(R - 1) sd / sqrt(R). `level` in
// (0, 1), else ConfigError; DataError when a value is not finite.
Interval MonteCarloInterval(std::span<const double> repetitions, double level = 0.95);

// From B estimates, each made anew from resampled data (the paper's appendix A for kClassifier-
// Bootstrap). B >= 40: the percentiles of the estimates; fewer resolve no percentile of 95 %, so
// mean +- t(B - 1) sd. Needs B >= 2. Errors as above.
Interval BootstrapInterval(std::span<const double> estimates, IntervalMethod method,
                           double level = 0.95);

}  // namespace lfiw

#endif  // LFIW_OPE_INTERVALS_H_
