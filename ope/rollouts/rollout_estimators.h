#ifndef LFIW_OPE_ROLLOUTS_ROLLOUT_ESTIMATORS_H_
#define LFIW_OPE_ROLLOUTS_ROLLOUT_ESTIMATORS_H_

#include "core/layers.h"
#include "ope/estimator.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {

// Estimators from rollouts in the learned model, EstimatorInputs::model_rewards and
// ::model_log_weights, as members of the family.

// The name of the plain mean of the rollouts' returns, in results and in configurations.
inline constexpr const char* kModelEstimator = "model";

// Makes the plain mean of the rollouts' returns, by the name kModelEstimator.
Estimator PlainRollouts();

// How many steps of weights act.
enum class WeightedSteps {
  kAll,       // H = T
  kReliable,  // H up to which the k-hat of the weights stays below its threshold
};

// Makes LFIW of these options, by the name lfiw_VARIANT, with "_reliable" for kReliable. It refuses
// without classifiers; a note says the H that was chosen. The k-hat of kAll is that of H = T.
// Throws ConfigError where khat or khat_horizons are set and would change nothing.
Estimator Lfiw(const LfiwOptions& options, WeightedSteps steps);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_ROLLOUT_ESTIMATORS_H_
