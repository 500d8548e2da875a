#ifndef LFIW_OPE_ROLLOUTS_ROLLOUT_SPREAD_H_
#define LFIW_OPE_ROLLOUTS_ROLLOUT_SPREAD_H_

#include <optional>
#include <string>

#include "core/arrays/array.h"
#include "core/layers.h"

namespace lfiw::ope {

// How far the mean of estimates by repetition of the rollouts and by classifier may be from what it
// would be with endless ones. Every classifier weighs every repetition, so each of the two varies
// whole rows or columns.
struct RolloutSpread {
  double standard_error = 0.0;
  double degrees = 1.0;  // of freedom of the standard error (Welch and Satterthwaite)
  std::string covers;    // in words what varied
};

// estimates [R, C]: variance of the row means / R plus that of the column means / C, which counts
// what repetition and classifier do together twice and so errs on the wide side. What there is one
// of adds nothing. None for R = C = 1.
std::optional<RolloutSpread> SpreadOf(const Array<double, 2>& estimates);

// The same for several estimates of one value, estimates [m, R, C]: their covariances, [m, m], all
// 0 for R = C = 1.
Array<double, 2> SpreadCovariance(const Array<double, 3>& estimates);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_ROLLOUT_SPREAD_H_
