#ifndef LFIW_OPE_FITS_TABULAR_FITS_H_
#define LFIW_OPE_FITS_TABULAR_FITS_H_

#include <cstdint>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "envs/tabular.h"
#include "ope/judgement/backtest.h"
#include "ope/estimator.h"

namespace lfiw::ope {

// Estimates from the log of a tabular system by counting, and exact ratios beside them: everything
// that estimators read, without a network. Fits see observations only, so where several states look
// alike they go wrong as any fit to such a log does.

// How many rollouts to draw from a fitted model.
struct ModelRolloutCounts {
  std::int64_t repetitions = 10;  // R
  std::int64_t episodes = 100;    // n'
};

// The log cut or padded to `steps` steps; an episode that goes on there has the time limit as end.
TabularLog WithSteps(const TabularLog& log, std::int64_t steps);

// The maximum likelihood model of a log of O observations, over 2 O states: state o is seen as o
// and goes on, state O + o is seen as o and terminal. Rewards are means over (o, a, o'). A pair
// (o, a) that is not in the log ends the episode with reward 0, so that its Q is 0.
TabularSystem FitTabularModel(const TabularLog& log, std::int64_t observations,
                              std::int64_t actions);

// Fitted Q evaluation by counting, over observations: the mean of r + g E_pi Q(o', .) at (o, a),
// where an episode that terminated has no o' and one cut by a time limit has. Over a finite horizon
// backward in t, from the transitions of step t, or of all steps for
// pairs that step t lacks; for an infinite horizon the fixed point, by a linear solve. Q of pairs
// that are not in the log is 0. Throws as InfiniteHorizonValues.
TabularValues FitTabularQ(const TabularLog& log, const TabularPolicy& evaluation,
                          const Estimand& estimand);

// Q and V, both over observations, at the steps of the log. v_fit is left empty.
ValueArrays ValuesAtSteps(const TabularValues& values, const TabularLog& log);

// Marginal weights of the logged steps by counting, [n, T] (see ope/estimators/marginal.h): over a
// finite horizon w_t(o, a) = f_t(o) pi(a|o) / (share of episodes with (o, a) at t), where f_0 is
// the share of o among first observations and f_{t+1} the weighted share of those that go on to o
// (tabular marginalized importance sampling, Yin and Wang 2020); over an infinite one the same for
// the discounted visitation and all logged steps, by a linear solve. With a function for every (t,
// o, a) this is the solution of MWL, DualDICE and GenDICE. Where the policy takes actions that the
// log lacks, weight is lost. Throws NumericError for an infinite horizon without discount below 1.
Array<double, 2> TabularWeights(const TabularLog& log, const TabularPolicy& evaluation,
                                const Estimand& estimand);

// log pi_e(a|o) - log pi_b(a|o), [n, T]. Throws DataError that names episode and step where the
// behavior policy could not have acted so.
Array<double, 2> ActionLogRatios(const TabularPolicy& behavior, const TabularPolicy& evaluation,
                                 const TabularLog& log);

// What one episode of the behavior policy can add to the estimate of per-decision importance
// sampling, sum_t g^t rho_t r_t, over a finite horizon: the exact range, backward in t. No episode
// adds more or less, so that bounds of Hoeffding's kind hold.
ReturnRange PerDecisionRange(const TabularSystem& system, const TabularPolicy& behavior,
                             const TabularPolicy& evaluation, std::int64_t horizon,
                             double discount);

// A range that holds what one episode adds to importance sampling by trajectories, rho R: products
// of the largest possible weight and the ends of the range of returns.
ReturnRange TrajectoryRange(const TabularSystem& system, const TabularPolicy& behavior,
                            const TabularPolicy& evaluation, std::int64_t horizon, double discount);

// Exact log-ratio of the two policies' probabilities of being in the (unseen) state s_t at t among
// episodes that have not ended, [n, T]; -infinity where the evaluation policy does not come.
Array<double, 2> VisitationLogRatios(const TabularSystem& system, const TabularPolicy& behavior,
                                     const TabularPolicy& evaluation, const TabularLog& log);

// Log of the share of o_t among the model's running episodes at t, under the evaluation policy,
// over its share in the log, [n, T]; both with half an episode more in every observation.
Array<double, 2> ModelVisitationLogRatios(const TabularSystem& model,
                                          const TabularPolicy& evaluation, const TabularLog& log);

// What estimators read, for logs from `system` under `behavior`: values "fqe", "mql" (the same) and
// "model" (Q and V exact in the fitted model; v_fit is V), weights "mwl", "dual_dice" and
// "gen_dice" (all TabularWeights), log_ratios "action", "visitation" (exact) and
// "model_visitation", rollouts of the evaluation policy in the fitted model, and model_alive.
// Log-weights of rollouts are exact too: the log-ratio of P(o', end | o, a) in episodes of the
// behavior policy to that of the model, which is that of the transition densities where every state
// is seen. The log is cut or padded to the horizon; for an infinite one it stays and there are no
// rollouts. Throws as the functions above.
EstimatorInputs MakeTabularInputs(const TabularSystem& system, const TabularPolicy& behavior,
                                  const TabularPolicy& evaluation, const TabularLog& log,
                                  const Estimand& estimand, const ModelRolloutCounts& counts,
                                  std::uint64_t seed);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_TABULAR_FITS_H_
