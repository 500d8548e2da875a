#ifndef LFIW_MODELS_TRANSITION_RATIO_H_
#define LFIW_MODELS_TRANSITION_RATIO_H_

#include <span>

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

// The other half of the importance weights: anything that gives log p(s' | s, a) / p_theta(s' | s,
// a) of a transition. A trained classifier estimates it; where both systems are known it is exact.
// Thread safe.
class TransitionRatio {
 public:
  virtual ~TransitionRatio() = default;
  // states, next_states [n, obs_dim], actions [n, action_dim], aux [n, aux_dim]; log_ratios [n]
  // (written). Runs on the calling thread: callers parallelise over rows.
  virtual void LogRatios(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                         ConstMatrixRef aux, std::span<double> log_ratios) const = 0;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TRANSITION_RATIO_H_
