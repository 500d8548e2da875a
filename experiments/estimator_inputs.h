#ifndef LFIW_EXPERIMENTS_ESTIMATOR_INPUTS_H_
#define LFIW_EXPERIMENTS_ESTIMATOR_INPUTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/visitor.h"
#include "experiments/mbope_inputs.h"
#include "experiments/mbope_stages.h"
#include "ope/estimator.h"
#include "ope/fqe.h"
#include "ope/model_values.h"

namespace lfiw {

// The arrays that off-policy estimators are functions of, each made by a stage of its own, for what
// a set of estimators needs.

// How what estimators need is fitted.
struct EstimatorFitOptions {
  ModelValueOptions model;
  FqeOptions fqe;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("model", model, "values and visited states in the learned model");
    v.Field("fqe", fqe, "fitted Q evaluation");
  }
};

// What the arrays are made from. All references outlive the call.
struct EstimatorSources {
  const StageContext& context;
  const EstimatorFitOptions& options;
  const LogSource& log;
  const LogSplit& split;
  const FittedModels* models;                   // null: nothing that needs a model can be made
  const PolicySource& policy;                   // evaluated
  const std::optional<PolicySource>& behavior;  // its densities count where the log has none
};

// The episodes that estimates with a model may correct themselves on: those that its members have
// not been trained on, or can be evaluated without the members that were.
std::vector<std::int64_t> CorrectionEpisodes(const EstimatorSources& sources);

// Inputs for all of `needs` (names as in Estimator::needs), on the listed episodes with at least
// one step. What cannot be made is named in EstimatorInputs::missing with its reason. The names are
// "action", "fqe", "model", "model_visitation" and "rollouts".
EstimatorInputs MakeEstimatorInputs(const EstimatorSources& sources,
                                    const std::vector<std::int64_t>& episodes,
                                    const std::set<std::string>& needs);

// The estimand of a configuration.
Estimand EstimandOf(const EstimandOptions& options);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_ESTIMATOR_INPUTS_H_
