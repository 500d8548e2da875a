#ifndef LFIW_OPE_FITS_LOGGED_ROWS_H_
#define LFIW_OPE_FITS_LOGGED_ROWS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "envs/env.h"
#include "models/episode_split.h"
#include "models/scaler.h"
#include "ope/estimator.h"
#include "policies/policy.h"

namespace lfiw::ope {

// What every fit to logged transitions for an estimand shares: which transitions count, what
// follows them under the evaluation policy, and fitted functions as arrays over the log.

// What is to be estimated of which policy from which log. Log, policy and spec must outlive it.
struct LoggedProblem {
  const EpisodeBatch& log;
  const Policy& policy;  // the evaluation policy
  const EnvSpec& spec;   // gives the action bounds
  Estimand estimand;
};

// EpisodeBatch::UsableSteps within the estimand's horizon.
std::int64_t StepsWithin(const EpisodeBatch& log, std::int64_t episode, const Estimand& estimand);

// The logged transitions that count, one entry each. Episodes that a time limit cut before the
// horizon are continued, those that terminated are not.
struct LoggedRows {
  std::vector<std::int64_t> state;      // row of log.observations; the next state is the next row
  std::vector<std::int64_t> action;     // row of log.actions
  std::vector<std::int64_t> step;       // 0 for an infinite horizon
  std::vector<std::int64_t> real_step;  // within the episode, for policies that see it
  std::vector<std::uint8_t> last;       // nothing follows: terminal, or the last of the horizon
  std::vector<std::uint8_t> terminal;   // the environment ended the episode
  std::int64_t size() const { return std::ssize(state); }
};

// The first T steps (an infinite horizon: all) of the listed episodes, in order.
LoggedRows RowsOf(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                  const Estimand& estimand);

// The episodes of the log that have a step.
std::vector<std::int64_t> NonEmptyEpisodes(const EpisodeBatch& log);

// values[picked] + shift.
std::vector<std::int64_t> Picked(const std::vector<std::int64_t>& values,
                                 std::span<const std::int64_t> picked, std::int64_t shift = 0);

// Each value `times` times in a row.
std::vector<std::int64_t> Repeated(const std::vector<std::int64_t>& values, std::int64_t times);

// (s, a) of the picked rows, [n, obs_dim + action_dim].
MatrixF StatesAndActions(const EpisodeBatch& log, const LoggedRows& rows,
                         std::span<const std::int64_t> picked);

// Measures the scale of (s, a) over all rows, of which there must be some, without a copy of them.
Scaler FitPairScaler(const EpisodeBatch& log, const LoggedRows& rows, const ScalerOptions& options);

// s' of the picked rows, [n, obs_dim]; after a last step, of which nothing may be asked (a policy
// may be undefined in an absorbing state), its own state.
MatrixF NextStates(const EpisodeBatch& log, const LoggedRows& rows,
                   std::span<const std::int64_t> picked);

// The step input of successors, kept within 0 .. steps - 1 where nothing follows.
std::vector<std::int64_t> NextSteps(const LoggedRows& rows, std::span<const std::int64_t> picked,
                                    std::int64_t steps);

// Each row of `states` `draws` times over, with an action of the policy as the environment would
// execute it: [n * draws, obs_dim + action_dim]. real_steps [n].
MatrixF WithDrawnActions(const LoggedProblem& problem, ConstMatrixRef states,
                         std::span<const std::int64_t> real_steps, std::int64_t draws,
                         Stream& stream);

// Discounted logged returns to go of each row of RowsOf(log, episodes, estimand), as far as logged.
std::vector<double> ReturnsToGo(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                const Estimand& estimand);

// Mean and spread of `values` at each step, [steps]: the affine scale of a Q.
struct StepScales {
  std::vector<double> centers, widths;  // widths > 0
};
StepScales MeasureScales(const LoggedRows& rows, const std::vector<double>& values,
                         std::int64_t steps);

// How many steps the marginal weight of each row stands for in the mean weight: its own and, where
// the episode terminated, all that follow, since what ends there under the evaluation policy stays
// ended: T - t, or 1 / (1 - discount). With exact weights, 1 / (n T) sum_i weight_i steps_i is 1
// over a finite horizon, and so is 1 / N sum_i weight_i steps_i over N rows and an infinite one.
std::vector<double> CarriedSteps(const LoggedRows& rows, const Estimand& estimand);

// Writes Q of rows (s, a) at steps; thread safe.
using QFunction =
    std::function<void(ConstMatrixRef, std::span<const std::int64_t>, std::span<double>)>;

// Q and V on the listed episodes, padded to `columns` steps. V is the mean of Q over `draws`
// actions of the policy at each state, from child e of `stream` for episode e; 0 from the state on
// in which an episode terminated or the horizon ended.
ValueArrays ValuesOnLog(const QFunction& q, const LoggedProblem& problem,
                        std::span<const std::int64_t> episodes, std::int64_t columns,
                        std::int64_t draws, const Stream& stream);

// Says what of the problem decides a fit, for the identity of its checkpoints.
std::string DescribeProblem(const LoggedProblem& problem, const LoggedRows& train);

// Throws ConfigError for an infinite horizon without discount below 1.
void RequireDiscount(const Estimand& estimand);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_LOGGED_ROWS_H_
