#ifndef LFIW_MODELS_TRANSITION_FUNCTION_H_
#define LFIW_MODELS_TRANSITION_FUNCTION_H_

#include <span>

#include "core/matrix.h"

namespace lfiw {

// A scalar function of a transition (s, a, s'), such as a reward. Thread safe; runs on the calling
// thread.
class TransitionFunction {
 public:
  virtual ~TransitionFunction() = default;
  // states, next_states [n, obs_dim], actions [n, action_dim], one-hot where the log's are;
  // values [n] (written).
  virtual void Predict(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                       std::span<double> values) const = 0;
};

}  // namespace lfiw

#endif  // LFIW_MODELS_TRANSITION_FUNCTION_H_
