#ifndef LFIW_OPE_ESTIMATORS_ACTION_RATIOS_H_
#define LFIW_OPE_ESTIMATORS_ACTION_RATIOS_H_

#include <cstdint>
#include <span>
#include <string>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "core/logs/episode_batch.h"

namespace lfiw::ope {

// Whether log-densities are those of a continuous action, which may exceed 0, or log-probabilities.
enum class ActionKind { kContinuous, kDiscrete };

// Per-step log pi_e(a|s) - log pi_b(a|s) of the listed episodes' executed actions, [n, horizon]; 0
// after the end of an episode, -infinity where the evaluation policy cannot act so. evaluation,
// behavior [steps of the log]: log-densities as of LoggedDensity, censored at the bounds alike.
// Throws DataError that names `source`, episode and step where the behavior policy's is missing
// (NaN), impossible (-infinity at an action that it took) or, for a probability, above 1, and where
// the evaluation policy's is NaN or +infinity.
Array<double, 2> ActionLogRatios(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                 std::span<const double> evaluation,
                                 std::span<const double> behavior, ActionKind kind,
                                 std::int64_t horizon, const std::string& source);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ESTIMATORS_ACTION_RATIOS_H_
