#ifndef LFIW_OPE_ROLLOUTS_LFIW_SWEEP_H_
#define LFIW_OPE_ROLLOUTS_LFIW_SWEEP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "ope/judgement/psis.h"
#include "ope/rollouts/lfiw_options.h"

namespace lfiw::ope {

// The inner part of EstimateLfiw: one repetition under one classifier, all horizons in one pass.

// One repetition with time as the outer index, so that each step reads contiguous episodes.
struct StepOutcomes {
  Array<double, 2> rewards;  // [T, n], times the factor of the step
  Array<double, 2> tails;    // [T + 1, n], sums of rewards from each step to the end
};

// Repetition `r` of rewards [R, n, T]; factors [T] as StepFactors gives them.
StepOutcomes MakeStepOutcomes(const Array<double, 3>& rewards, std::int64_t r,
                              std::span<const double> factors);

// One horizon. The estimate is mantissa * exp(log_scale), se_mantissa in the same unit.
struct SweepPoint {
  bool supported = false;  // no set of weights that the estimate needs is all zero
  double log_scale = 0.0;
  double mantissa = 0.0;
  double se_mantissa = 0.0;
  double ess = 0.0;
  double max_weight = 0.0;
  std::int64_t clipped = 0;  // weights raised by the clip, among those the estimate uses
  TailFit tail;
};

// Points of H = 0 .. T, [T + 1]. log_weights [T, n]. O(n T), plus one tail fit for each horizon at
// which options ask for k-hat.
std::vector<SweepPoint> SweepHorizons(const StepOutcomes& outcomes,
                                      const Array<double, 2>& log_weights,
                                      const LfiwOptions& options);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_LFIW_SWEEP_H_
