#ifndef LFIW_OPE_ESTIMATORS_DOUBLY_ROBUST_LFIW_H_
#define LFIW_OPE_ESTIMATORS_DOUBLY_ROBUST_LFIW_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/estimator.h"

namespace lfiw::ope {

// Doubly robust LFIW: the value in the learned model plus what the log says that the model gets
// wrong, with marginal instead of cumulated weights, so that nothing degenerates with the horizon:
//
//   v = mean_i U_0(s_i0)
//     + sum_t g^t sum_i w_it [ r_it + g U_{t+1}(s_i,t+1) - Q_t(s_it, a_it) ]
//     + sum_t g^t sum_i u_it [ V_t(s_it) - U_t(s_it) ]
//
// U is any function of state and step (ValueArrays::v_fit), Q its one-step lookahead in the model,
// Q_t(s, a) = E[r + g U_{t+1}(s^)], and V_t(s) = E_pi Q_t(s, .) (ValueArrays::q and ::v). The
// weights are per step
//   w_it ~ (state ratio)^state_power (action ratio)^action_power,  u_it ~ (state
//   ratio)^state_power,
// each with the sum m_t over running episodes, the share of the policy's episodes that still run:
//   m_t = state_power (the model's share) + (1 - state_power) (the log's share).
// It is known and not estimated by weights, so that it counts where no logged episode has ended
// too. With kCumulative and kFitted the sum is 1, ended episodes included, which have no residuals.
//
// With the policy's true ratios of states and actions the sums telescope to its value whatever U
// and Q; with a perfect model the first sum has mean 0 whatever the weights, and the second repairs
// U. A power of 1 trusts a ratio, 0 ignores it. State ratios from the model's own rollouts
// ("model_visitation") are right only to first order in the model's error.
enum class WeightKind {
  kMarginal,    // as above
  kCumulative,  // rho_t and rho_{t-1} of the action ratios^action_power, without a state ratio
  // w = u = (ratio of visited to logged states and actions)^action_power, from what was fitted for
  // a marginal estimator (ope/estimators/marginal.h), without a state ratio; negative weights count
  // as 0
  kFitted,
};
constexpr auto EnumNames(WeightKind /*kind*/) {
  return std::to_array<std::string_view>({"marginal", "cumulative", "fitted"});
}

struct DoublyRobustLfiwOptions {
  std::string values = "model";                  // of EstimatorInputs::values
  std::string state_ratio = "model_visitation";  // of EstimatorInputs::log_ratios
  WeightKind weights = WeightKind::kMarginal;
  std::string fitted_weights = "dual_dice";  // of EstimatorInputs::weights, or else ::log_ratios
  double state_power = 0.5;
  double action_power = 0.5;

  // What the estimate is made from, without how strongly it acts.
  template <class Visitor>
  void VisitSources(Visitor& v) {
    v.Field("values", values, "fitted values");
    v.Field("state_ratio", state_ratio, "fitted ratio of visited to logged states");
    v.Field("weights", weights, "marginal weights, cumulated action ratios, or fitted weights");
    v.Field("fitted_weights", fitted_weights, "which fitted weights, for that kind");
  }
  template <class Visitor>
  void Visit(Visitor& v) {
    VisitSources(v);
    v.Field("state_power", state_power, "exponent of the state ratio; 0 ignores it",
            Between(0.0, 1.0));
    v.Field("action_power", action_power, "exponent of the action ratio; 0 ignores it",
            Between(0.0, 1.0));
  }
};

// The estimate with its terms (1 + 2 T columns). ESS is n times the smallest share of the running
// episodes that w leaves at any step; k-hat and max_weight are the largest over steps. Steps that
// no logged episode reaches have no correction, and a note says so. Refuses without support at some
// step. Arrays are checked by RunEstimator.
Estimate EstimateDoublyRobustLfiw(const EstimatorInputs& inputs, const Estimand& estimand,
                                  const DoublyRobustLfiwOptions& options);

// How strongly the weights act, chosen from the data: both powers are p, and p is one of a path
// from the true weights to none, along which bias grows and variance shrinks. Of the candidates
// whose weights leave enough episodes it is the last that differs from no stronger one by more than
// the error of their difference (DifferenceChoice).
struct PowerChoiceOptions {
  std::vector<double> powers = {1.0, 0.75, 0.5, 0.25, 0.0};  // descending
  double smallest_ess = 20.0;
  double smallest_ess_fraction = 0.05;
  double width = 2.0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("powers", powers, "exponents of the state and action ratios to choose from, descending",
            Between(0.0, 1.0));
    v.Field("smallest_ess", smallest_ess, "effective episodes that a candidate needs",
            AtLeast(1.0));
    v.Field("smallest_ess_fraction", smallest_ess_fraction,
            "share of the episodes that a candidate needs as effective ones", Between(0.0, 1.0));
    v.Field("width", width,
            "largest difference of two candidates that agree, in its standard errors",
            AtLeast(0.0));
  }
};

// Options of a row with chosen powers; choice.powers of one entry fixes them.
struct ChosenDoublyRobustOptions {
  DoublyRobustLfiwOptions estimate;  // without its powers
  PowerChoiceOptions choice;

  template <class Visitor>
  void Visit(Visitor& v) {
    estimate.VisitSources(v);
    v.Field("choice", choice, "how strongly the weights act");
  }
};

struct PowerCandidate {
  double power = 0.0;
  std::optional<double> value, standard_error, ess;
  std::string left_out;  // why it was not in the choice; empty if it was
};

struct ChosenDoublyRobust {
  Estimate estimate;  // with value and standard error; refused where no candidate is left
  double power = 0.0;
  // How far weights at full power would still move the value, by the slope of the path of
  // candidates at the chosen one; none where no other has a value.
  std::optional<double> remaining;
  std::vector<PowerCandidate> candidates;
};

// Without action ratios among the inputs the state ratio alone is raised to p, and a note says so.
// `options` gives values and state ratio; its powers are not used. Arrays are checked by
// RunEstimator. Throws ConfigError when no powers are given.
ChosenDoublyRobust ChooseDoublyRobustLfiw(const EstimatorInputs& inputs, const Estimand& estimand,
                                          const DoublyRobustLfiwOptions& options,
                                          const PowerChoiceOptions& choice);

// The name of doubly robust LFIW with marginal weights, in results and in configurations.
inline constexpr const char* kDoublyRobustLfiw = "dr_lfiw";

// Makes the estimators with chosen powers, one for each kind of weights: kDoublyRobustLfiw,
// "dr_lfiw_cumulative" and "dr_lfiw_dual_dice".
std::vector<Estimator> DoublyRobustLfiwEstimators();

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ESTIMATORS_DOUBLY_ROBUST_LFIW_H_
