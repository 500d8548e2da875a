#ifndef LFIW_OPE_FITS_TABULAR_FITS_H_
#define LFIW_OPE_FITS_TABULAR_FITS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "envs/tabular.h"
#include "ope/estimator.h"
#include "ope/judgement/backtest.h"

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

// What the fits to the log of a tabular system are functions of: the log cut or padded to the
// horizon (an infinite one leaves it), and the model that is fitted to it by counting. References
// outlive it; one thread uses it.
struct TabularSource {
  const TabularSystem& system;
  const TabularPolicy& behavior;
  const TabularPolicy& evaluation;
  TabularLog log;
  TabularSystem model;
  Estimand estimand;
  ModelRolloutCounts counts;
  std::uint64_t seed = 0;

  TabularSource(const TabularSystem& of, const TabularPolicy& logs, const TabularPolicy& evaluated,
                const TabularLog& episodes, const Estimand& value, const ModelRolloutCounts& draw,
                std::uint64_t root);

  // FitTabularQ at the logged steps and TabularWeights; computed once.
  const ValueArrays& FittedQ() const;
  const Array<double, 2>& Weights() const;

 private:
  mutable std::optional<ValueArrays> q_;
  mutable std::optional<Array<double, 2>> weights_;
};

// What several kinds of fits are in a tabular system. Errors are those of the functions above.
//
// Values of FQE by that name: FitTabularQ. Minimax Q learning finds the same.
FittedArrays TabularQ(const TabularSource& source, const std::string& name);
// Weights by that name, which MWL, DualDICE and GenDICE agree on: TabularWeights.
FittedArrays TabularMarginalWeights(const TabularSource& source, const std::string& name);
// Values "model" (Q and V exact in the fitted model; v_fit is V), "model_visitation", model_alive.
FittedArrays TabularModelValues(const TabularSource& source);
// Rollouts of the evaluation policy in the fitted model. Log-weights are exact: the log-ratio of
// P(o', end | o, a) in episodes of the behavior policy to that of the model, which is that of the
// transition densities where every state is seen. For an infinite horizon there are none.
FittedArrays TabularRollouts(const TabularSource& source);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_TABULAR_FITS_H_
