#ifndef LFIW_MODELS_SCALAR_OF_TRANSITION_H_
#define LFIW_MODELS_SCALAR_OF_TRANSITION_H_

#include <cstdint>
#include <memory>
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
  // The function without those of its parts that were fitted to the log's episode `episode`; null
  // where that is the function itself.
  virtual std::shared_ptr<const ScalarOfTransition> Unseen(std::int64_t /*episode*/) const {
    return nullptr;
  }
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_SCALAR_OF_TRANSITION_H_
