#ifndef LFIW_MODELS_DYNAMICS_CHECKS_H_
#define LFIW_MODELS_DYNAMICS_CHECKS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "models/dynamics.h"

namespace lfiw::models {

// How well an ensemble predicts episodes it was not trained on.
struct DynamicsErrors {
  std::int64_t steps = 0;
  // Of the members' average prediction: share of variance explained, [learned dims of s' - s, then
  // of aux]; 0 where the outcome does not vary.
  std::vector<double> r2;
  // Mean negative log-density of the mixture, in nats per step and the units of the data; none for
  // deterministic members.
  std::optional<double> mixture_nll;
};

// One-step errors on the listed episodes of the log.
DynamicsErrors OneStepErrors(const DynamicsEnsemble& ensemble, const EpisodeBatch& log,
                             std::span<const std::int64_t> episodes);

// Root mean squared error of the state after k = 1..max_k steps of open-loop prediction under the
// logged actions, [max_k], in standard deviations of the training states (of their changes, where
// these are larger) and averaged over the learned dimensions. Each episode is cut into windows of
// max_k steps; windows take turns among the members, whose means are followed. As in rollouts,
// predicted states stay in the range of the logged ones, widened by a tenth on both sides: where
// only feedback keeps a system stable, even a true model would leave it for good without the
// actions that bring it back. Infinite where a prediction is not finite, NaN where no window is
// that long.
std::vector<double> OpenLoopError(const DynamicsEnsemble& ensemble, const EpisodeBatch& log,
                                  std::span<const std::int64_t> episodes, std::int64_t max_k);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_DYNAMICS_CHECKS_H_
