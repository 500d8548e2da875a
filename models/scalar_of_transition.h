#ifndef LFIW_MODELS_SCALAR_OF_TRANSITION_H_
#define LFIW_MODELS_SCALAR_OF_TRANSITION_H_

#include <span>

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

// A scalar function of a transition (s, a, s'), such as a reward. Thread safe; runs on the calling
// thread.
class ScalarOfTransition {
 public:
  virtual ~ScalarOfTransition() = default;
  // states, next_states [n, obs_dim], actions [n, action_dim], one-hot where the log's are;
  // values [n] (written).
  virtual void Predict(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                       std::span<double> values) const = 0;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_SCALAR_OF_TRANSITION_H_
