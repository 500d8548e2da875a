#ifndef LFIW_OPE_ROLLOUTS_CALIBRATED_MODEL_H_
#define LFIW_OPE_ROLLOUTS_CALIBRATED_MODEL_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "ope/estimator.h"
#include "ope/judgement/backtest.h"
#include "ope/rollouts/rollout_inputs.h"

namespace lfiw::ope {

// The value of a policy from a family of models that one log could have come from, calibrated by
// the policy that wrote it. Every member of an ensemble, with several amounts of its noise, is a
// model of its own. Each gives a value x_m to the logged policy and y_m to the evaluated one, and
// the log says what x is. If (x, y) is normal over the family, then given the log's x* with
// standard error e
//
//   v = mean y + k (x* - mean x),  k = cov(x, y) / (var x + e^2),
//   var v = 2 (var y - k cov(x, y)),
//
// the regression of y on x: an error that a model makes for both policies cancels, and a model's
// error for a policy that has little to do with the logged one is left to the spread of the family.
// The models of a family have the data, the kind of network and the training in common, and so an
// error that their spread does not show. It is taken to be as large as what they differ in, hence
// the factor 2.

// Values [scales, members] of one policy in every model of a family.
struct FamilyValues {
  Array<double, 2> values;
  double standard_error = 0.0;  // of the rollouts, the largest of all models
};

// The amounts of noise of a family, as shares of the model's own.
inline constexpr std::array kFamilyScales = {1.0, 0.5, 0.0};

// Rolls a policy out from `episodes` of the start states in each member of a model alone; all
// models and policies see the same start states and random numbers. Returns the members' mean
// returns.
struct MemberReturns {
  std::vector<double> means, standard_errors;  // [members]
};
MemberReturns ReturnsByMember(const RolloutInputs& inputs, const ValueOptions& value,
                              std::int64_t episodes, std::int64_t horizon, std::uint64_t seed);

struct CalibratedModel {
  double value = 0.0;
  double standard_error = 0.0;  // root of var v, and of the errors of the rollouts
  double degrees = 1.0;         // of freedom of that error: members - 1
  double mean = 0.0;            // of the family for the evaluated policy
  double slope = 0.0;           // k
  double logged_mean = 0.0;     // of the family for the logged policy
  double logged = 0.0;          // x*
  // How far x* lies outside of all x of the family, in its unit; 0 inside. What k makes of that is
  // an extrapolation and part of the standard error.
  double outside = 0.0;
};

// `logged` and `evaluated` are of the same models. Throws DataError for fewer than two members.
CalibratedModel CalibrateModel(const FamilyValues& logged, const FamilyValues& evaluated,
                               const Backtest& log);

// The name of its rows.
inline constexpr const char* kCalibratedModel = "calibrated_model";

// Makes the estimator of that name, which reads FittedArrays::model_family ("family").
Estimator CalibratedModelEstimator();

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_CALIBRATED_MODEL_H_
