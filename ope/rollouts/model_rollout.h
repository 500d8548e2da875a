#ifndef LFIW_OPE_ROLLOUTS_MODEL_ROLLOUT_H_
#define LFIW_OPE_ROLLOUTS_MODEL_ROLLOUT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays/array.h"
#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/matrix.h"
#include "core/run/progress.h"
#include "envs/env.h"
#include "ope/rollouts/rollout_inputs.h"

namespace lfiw::ope {

// Where model rollouts begin.
enum class RolloutStart {
  kLog,          // first states of the logged episodes, in a random order, each as often as another
  kEnvironment,  // fresh resets of the real environment
};
constexpr auto EnumNames(RolloutStart /*kind*/) {
  return std::to_array<std::string_view>({"log", "environment"});
}

struct RolloutOptions {
  // The paper: 10 Monte Carlo estimates of 100 trajectories each.
  std::int64_t repetitions = 10;
  std::int64_t episodes = 100;
  RolloutStart start = RolloutStart::kLog;
  // The displacement is predicted by the model and makes the reward exact; the others only read
  // observed velocities.
  RewardSource reward = RewardSource::kDisplacement;
  // Gaussian ensembles diverge without a bound: a predicted value may leave the range seen in the
  // log by this share of the range's width, and is clamped (and counted) beyond.
  double clamp_margin = 0.1;
  // Pairs of each trajectory that are kept for the support check.
  std::int64_t visited_per_episode = 4;
  // Trajectories in each member of the model alone: how far the members' values lie apart is what
  // the log leaves open about the model.
  std::int64_t member_episodes = 200;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("repetitions", repetitions, "independent Monte Carlo estimates R", AtLeast(1));
    v.Field("episodes", episodes, "model trajectories n of each", AtLeast(1));
    v.Field("start", start, "first states of the log, or resets of the real environment");
    v.Field("reward", reward, "where the reward's velocity comes from");
    v.Field("clamp_margin", clamp_margin,
            "predicted values are clamped to the log's range, widened by this share of it",
            AtLeast(0));
    v.Field("visited_per_episode", visited_per_episode,
            "visited states and actions kept of each trajectory, for the support check",
            AtLeast(0));
    v.Field("member_episodes", member_episodes,
            "model trajectories in each member alone, for the spread of their values", AtLeast(0));
  }
};

// Rollouts of the evaluation policy in the model, as arrays for the estimators.
struct ModelRollouts {
  Array<double, 3> rewards;      // [R, n, T]; 0 after termination
  Array<double, 4> log_weights;  // [R, C, n, T]: log of the estimated p / p_theta of each
                                 // transition; 0 after termination
  std::int64_t clamped_values = 0;
  std::int64_t predicted_values = 0;  // rollout steps x (obs_dim + aux_dim)
  // visited_per_episode random steps of each trajectory before its end, drawn with replacement; row
  // (r * n + i) * visited_per_episode + k is of episode i of repetition r. m rows in all.
  MatrixF visited_states;                   // [m, obs_dim]
  MatrixF visited_actions;                  // [m, action_dim], as executed
  std::vector<std::int64_t> visited_steps;  // [m], ascending within a trajectory
  // [members, T]: mean reward of each step in one member alone, all from the same start states and
  // random numbers; [0, T] where none were asked for.
  Array<double, 2> member_rewards;

  double ClampRate() const;
  void Save(const std::string& path) const;
  static ModelRollouts Load(const std::string& path);
};

// Start states [R * n, obs_dim] from the log's first observations.
MatrixF StartStatesFromLog(const EpisodeBatch& log, std::int64_t count, std::uint64_t seed);
// Start states [count, obs_dim] from resets of the real environment.
MatrixF StartStatesFromEnv(const EnvFactory& env, std::int64_t count, std::uint64_t seed);

// Rolls the policy out in the model for `horizon` steps (Eq. iw_mbope's trajectories): at every
// step each trajectory draws one ensemble member (TS1) and a next state from it, exactly as the
// classifiers' negatives were drawn. Each trajectory has its own random streams. Throws
// NumericError that names trajectory and step when a prediction is not finite.
ModelRollouts RollOutInModel(const RolloutInputs& inputs, const RolloutOptions& options,
                             std::int64_t horizon, std::uint64_t seed, Progress* progress);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_MODEL_ROLLOUT_H_
