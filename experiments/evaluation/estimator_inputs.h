#ifndef LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_INPUTS_H_
#define LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_INPUTS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/evaluation/estimator_stages.h"
#include "ope/estimator.h"

namespace lfiw::experiments {

// The arrays that off-policy estimators are functions of, for what a set of estimators needs.

// The episodes that estimates with a model may correct themselves on: those that its members have
// not been trained on, or can be evaluated without the members that were.
std::vector<std::int64_t> CorrectionEpisodes(const EstimatorSources& sources);

// Inputs for all of `needs` (names as in Estimator::needs), on the listed episodes with at least
// one step. What cannot be made is named in EstimatorInputs::missing with its reason. The names are
// "action", "dual_dice", "fqe", "gen_dice", "model", "model_visitation", "mql", "mrdr", "mwl" and
// "rollouts".
EstimatorInputs MakeEstimatorInputs(const EstimatorSources& sources,
                                    const std::vector<std::int64_t>& episodes,
                                    const std::set<std::string>& needs);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_INPUTS_H_
