#ifndef LFIW_OPE_ROLLOUTS_ROLLOUT_INPUTS_H_
#define LFIW_OPE_ROLLOUTS_ROLLOUT_INPUTS_H_

#include <span>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/matrix.h"
#include "envs/env.h"
#include "models/transition_model.h"
#include "models/transition_ratio.h"
#include "policies/policy.h"

namespace lfiw::ope {

// Bounds of predicted next states and aux, per dimension.
struct ClampRange {
  VectorF state_low, state_high;  // [obs_dim]
  VectorF aux_low, aux_high;      // [aux_dim]
};

// The range of the log's observations and aux, widened by `margin` times its width on both sides.
ClampRange RangeOfLog(const EpisodeBatch& log, double margin);

// Everything a rollout reads. All references outlive the call.
struct RolloutInputs {
  const TransitionModel& dynamics;
  std::span<const TransitionRatio* const> ratios;  // C of them, one per classifier; may be none
  const Policy& policy;
  const EnvSpec& spec;
  const TaskRules& functions;
  const MatrixF& start_states;  // [R * n, obs_dim]
  const ClampRange& range;
};

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_ROLLOUT_INPUTS_H_
