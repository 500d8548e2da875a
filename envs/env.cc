#include "envs/env.h"

#include <algorithm>

namespace lfiw::envs {

bool EnvSpec::aux_is_forward_velocity() const {
  return aux_names.size() == 1 && aux_names.front() == kForwardVelocity;
}

void ClipActions(const EnvSpec& spec, MatrixRef actions) {
  const VectorF low = spec.action_low.cast<float>();
  const VectorF high = spec.action_high.cast<float>();
  for (Eigen::Index i = 0; i < actions.rows(); ++i) {
    for (Eigen::Index j = 0; j < actions.cols(); ++j) {
      // unlike Eigen's min and max, this keeps NaN for the step to refuse
      actions(i, j) = std::clamp(actions(i, j), low(j), high(j));
    }
  }
}

}  // namespace lfiw::envs
