#ifndef LFIW_OPE_FITS_REGULARIZED_LAGRANGIAN_H_
#define LFIW_OPE_FITS_REGULARIZED_LAGRANGIAN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "models/ensemble_fit.h"
#include "models/fit.h"
#include "models/mlp.h"
#include "models/scaler.h"
#include "ope/estimator.h"
#include "ope/fits/logged_rows.h"

namespace lfiw::ope {

// Off-policy evaluation via the regularized Lagrangian (Yang, Nachum, Dai, Li and Schuurmans 2020):
// the linear program whose primal variable is Q and whose dual variable is the ratio zeta(s, a) of
// the evaluation policy's to the logged distribution, as one min-max problem of two networks,
//
//   max_zeta min_{Q, lambda}  k E[Q(s_0, pi)] + lambda
//       + E_log[ zeta(s, a) (a_R r + g Q(s', pi) - Q(s, a) - lambda) ]
//       + a_Q / 2 E_log[Q^2] - a_zeta / 2 E_log[zeta^2] + lambda^2 / 2,    k = 1 - g,
//
// which has DualDICE (Nachum et al. 2019), GenDICE (Zhang et al. 2020) and others as settings. The
// value is read off zeta: 1 / k E_log[zeta r].
//
// Over a finite horizon T both depend on the step, k = 1 / T, the flow is not discounted, reward
// t counts g^t r, and lambda is one number for each step; zeta_t is then the ratio at t.

// Whether rewards enter the problem (a_R), which makes Q the value, or zeta alone is sought.
enum class RewardTerm { kOff, kOn };
constexpr auto EnumNames(RewardTerm /*kind*/) {
  return std::to_array<std::string_view>({"off", "on"});
}
// zeta = softplus(network), or the network itself; the ratio that is sought is positive anyway.
enum class Positivity { kNone, kSoftplus };
constexpr auto EnumNames(Positivity /*kind*/) {
  return std::to_array<std::string_view>({"none", "softplus"});
}
// Whether lambda holds the mean of zeta at 1.
enum class Normalization { kNone, kMultiplier };
constexpr auto EnumNames(Normalization /*kind*/) {
  return std::to_array<std::string_view>({"none", "multiplier"});
}

struct LagrangianOptions : EnsembleFitOptions {
  // Little momentum: with the usual 0.9 the two sides of a min-max problem drive each other apart.
  LagrangianOptions() {
    members = 2;
    network = {.hidden_layers = 2, .width = 256, .activation = Activation::kSilu};
    fit = {.steps = 20'000,
           .batch = 256,
           .validate_every = 500,
           .adam = {.learning_rate = 5e-4, .beta1 = 0.5, .beta2 = 0.99}};
  }

  double primal_regularizer = 0.0;  // a_Q
  double dual_regularizer = 1.0;    // a_zeta
  RewardTerm reward = RewardTerm::kOff;
  Positivity positivity = Positivity::kSoftplus;
  Normalization normalization = Normalization::kNone;
  // Parameters are averaged over about 1 / (1 - average) steps, since the last iterate of a min-max
  // problem circles around its solution.
  double average = 0.998;
  std::int64_t target_draws = 1;  // actions of the policy per row and gradient step

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("primal_regularizer", primal_regularizer, "factor of Q^2 / 2", AtLeast(0.0));
    v.Field("dual_regularizer", dual_regularizer, "factor of zeta^2 / 2", AtLeast(0.0));
    v.Field("reward", reward, "whether rewards enter the problem");
    v.Field("positivity", positivity, "what keeps the ratio positive");
    v.Field("normalization", normalization, "what holds the mean ratio at 1");
    VisitMembers(v, "pairs of networks, whose ratios are averaged");
    VisitNetwork(v, "each of the two networks", "training of each member");
    v.Field("average", average, "decay of the averaged parameters", Between(0.0, 0.9999999));
    v.Field("target_draws", target_draws, "actions drawn for each expectation", AtLeast(1));
    VisitValidation(v, "most transitions used per validation");
    VisitScaler(v);
  }
};

// a_zeta = 1, nothing else: zeta^2 / 2 is DualDICE's f. Positive, which the paper leaves open.
LagrangianOptions DualDiceOptions();
// a_Q = 1, lambda, zeta > 0.
LagrangianOptions GenDiceOptions();

struct LagrangianFit {
  Scaler scaler;           // of rows (s, a)
  std::int64_t steps = 1;  // of the step input
  Positivity positivity = Positivity::kSoftplus;
  std::vector<Mlp> ratios;  // zeta before the softplus, of each member
  std::vector<FitSummary> members;
  // Mean of zeta over the log, 1 when exact; what ends under the evaluation policy included.
  double mean_weight = 0.0;
  double value = 0.0;  // 1 / k E_log[zeta r], on the scale of a sum of discounted rewards
  // The same from Q, E[Q(s_0, pi)] + (lambda + a_zeta E_log[zeta^2]) / k, on held-out episodes;
  // with rewards only. The last term is what the dual regularizer takes from Q.
  std::optional<double> primal_value;
  // |primal - dual| objective on held-out episodes, as a share of the larger of the two and of half
  // the regularizers; 0 at a solution. Mean over members.
  double gap = 0.0;
  std::vector<std::string> notes;  // where mean weight or gap say that the fit is not to be trusted
};

// Fits to the first T steps of all episodes of the log, by Adam that descends in Q and lambda and
// ascends in zeta at once. Episodes that a time limit cut are continued, those that terminated are
// not. Every member is one parallel task; "<name>_<k>.npz" are its checkpoints. Throws DataError
// for a log with fewer than two episodes, ConfigError for an infinite horizon without discount
// below 1, else as Fit.
LagrangianFit FitLagrangian(const LoggedProblem& problem, const LagrangianOptions& options,
                            const std::string& name, std::uint64_t seed, const FitRun& run = {});

// log zeta on the listed episodes, [n, columns], 0 after their ends: log_ratios "dual_dice" or
// "gen_dice". -infinity where an unconstrained zeta is not positive.
Array<double, 2> LagrangianLogRatios(const LagrangianFit& fit, const EpisodeBatch& log,
                                     std::span<const std::int64_t> episodes,
                                     const Estimand& estimand, std::int64_t columns);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_REGULARIZED_LAGRANGIAN_H_
