#ifndef LFIW_OPE_FITS_MODEL_VALUES_H_
#define LFIW_OPE_FITS_MODEL_VALUES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/run/progress.h"
#include "models/timed_function_fit.h"
#include "ope/estimator.h"
#include "ope/rollouts/model_rollout.h"

namespace lfiw::ope {

// What a doubly robust estimate takes from a dynamics model: the evaluation policy's values in the
// model at the logged states and actions, and the ratio of the states that it visits to the logged
// ones. The ratio is cross-fitted by episode: it is not applied to an episode that it was fitted
// on, and q and v ask only those members of the model, and of a learned reward or termination, that
// have not seen the episode. One function V_t(s) serves all episodes: it is fitted to rollouts of
// the whole model and sees no logged outcome, except through members that were trained on them.

struct ModelValueOptions {
  std::int64_t folds = 2;
  std::int64_t starts = 250;        // rollouts from logged states of every step (StartsPerStep)
  std::int64_t trajectories = 500;  // rollouts over the whole horizon, for each fold
  std::int64_t states_per_episode = 20;
  std::int64_t draws = 4;
  TimedFunctionOptions value;
  TimedFunctionOptions ratio;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("folds", folds,
            "parts of the episodes; the ratio of states for one is fitted on the others",
            AtLeast(2));
    v.Field(
        "starts", starts,
        "model rollouts from the logged states of each step; beyond 100 steps they share as many "
        "as 100 steps have",
        AtLeast(2));
    v.Field("trajectories", trajectories, "model rollouts over the whole horizon, per fold",
            AtLeast(2));
    v.Field("states_per_episode", states_per_episode,
            "states of each rollout and logged episode that the classifier of states sees",
            AtLeast(1));
    v.Field("draws", draws, "outcomes drawn from the model for each logged step", AtLeast(1));
    v.Field("value", value, "network of V_t(s)");
    v.Field("ratio", ratio, "classifier of visited against logged states");
  }
};

// Arrays over n of the log's episodes, padded to T steps (0 after the end of an episode).
struct ModelValues {
  std::vector<std::int64_t> episodes;  // [n], of the log
  // v_fit: the network fitted to returns of rollouts that start from logged states at every t. q:
  // Q_t(s, a) = E[r(s, a, s^) + g V_{t+1}(s^)] over the model's s^, of members that have not seen
  // the episode, by Monte Carlo. v: the same over the policy's actions too, E_pi Q_t(s, .).
  ValueArrays values;
  // log of the density of the policy's states at t over that of the logged states at t (both of
  // episodes that have not ended). Likelihood-free: odds of a classifier between states that the
  // policy visits in the model and those that the behavior policy visits there, so that the model's
  // error cancels to first order and the ratio of the behavior policy itself is exactly 1. Where
  // the behavior policy is not known the logged states stand for its own, and the ratio is right
  // only to first order in the model's error.
  Array<double, 2> state_log_ratios;  // [n, T]
  // [T], share of the policy's episodes not ended before t: the log's share times the ratio of both
  // policies' shares in the model, or the policy's share in the model alone.
  std::vector<double> alive;

  std::optional<double> value_r2;   // of v_fit on held-out rollouts
  std::optional<double> ratio_auc;  // the mean over folds
};

// Model rollouts from the logged states of each step: `starts` up to a horizon of
// 100 steps; beyond, as many in all as 100 steps have, so that the work grows with T and not with
// T^2, but at least 2. Rollouts from earlier steps serve later ones too.
std::int64_t StartsPerStep(const ModelValueOptions& options, std::int64_t horizon);

// Fits and evaluates all of it on the listed episodes of the log. `inputs` gives model, policy,
// functions and clamp range (its ratios and start_states are not used); `behavior` may be null.
// Work: StartsPerStep * T^2 / 2 + 2 * folds * trajectories * T + 2 * steps * draws model steps. Of
// longer episodes the first `horizon` steps count. Throws DataError when there are fewer than two
// episodes for each fold, else as FitStepValue and RollOutInModel.
ModelValues FitModelValues(const RolloutInputs& inputs, const Policy* behavior,
                           const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                           std::int64_t horizon, double discount, const ModelValueOptions& options,
                           std::uint64_t seed, const FitRun& run = {});

// Gradient steps and rollouts that FitModelValues reports to a progress.
std::int64_t ModelValueWork(const ModelValueOptions& options, std::int64_t horizon);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_MODEL_VALUES_H_
