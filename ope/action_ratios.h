#ifndef LFIW_OPE_ACTION_RATIOS_H_
#define LFIW_OPE_ACTION_RATIOS_H_

#include <cstdint>
#include <span>
#include <string>

#include "core/array.h"
#include "core/episode_batch.h"

namespace lfiw {

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

}  // namespace lfiw

#endif  // LFIW_OPE_ACTION_RATIOS_H_
