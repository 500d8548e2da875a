#ifndef LFIW_OPE_ROLLOUTS_PLAIN_MODEL_H_
#define LFIW_OPE_ROLLOUTS_PLAIN_MODEL_H_

#include <optional>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "ope/value.h"

namespace lfiw::ope {

// The mean return of model rollouts without any weights.
struct PlainModelEstimate {
  double value = 0.0;
  std::optional<double> standard_error;  // over repetitions; needs R >= 2
  double se_within = 0.0;           // of one repetition, from its n episodes (root mean square)
  std::vector<double> repetitions;  // [R] mean return of each
};

// rewards [R, n, T], 0 after the end of an episode. Throws DataError when they are empty or their
// returns are not finite.
PlainModelEstimate EstimatePlainModel(const Array<double, 3>& rewards, const ValueOptions& value);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_PLAIN_MODEL_H_
