#ifndef LFIW_EXPERIMENTS_EVALUATION_STAGE_OUTLINE_H_
#define LFIW_EXPERIMENTS_EVALUATION_STAGE_OUTLINE_H_

#include <vector>

#include "core/layers.h"
#include "experiments/evaluation/evaluation_config.h"
#include "experiments/presentation/stage_list.h"

namespace lfiw::experiments {

// Returns the stages that an evaluation comes to as far as its configuration tells, in order: what
// the content of a log decides (a clone of the logged policy, a choice of noise, a termination that
// is never seen) may turn out not to be needed.
std::vector<ExpectedStage> OutlineOf(const EvaluationConfig& config);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_STAGE_OUTLINE_H_
