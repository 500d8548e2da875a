#ifndef LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_STAGES_H_
#define LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_STAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/arrays/array.h"
#include "core/config/visitor.h"
#include "core/layers.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/run_context.h"
#include "ope/estimator.h"
#include "ope/fits/fourier_features.h"
#include "ope/fits/fqe.h"
#include "ope/fits/linear_values.h"
#include "ope/fits/model_values.h"
#include "ope/fits/mrdr.h"
#include "ope/fits/regularized_lagrangian.h"

namespace lfiw::experiments {

// Fits behind the off-policy estimators, each a stage kept by the cache: from a log and an
// evaluated policy to arrays over the steps of the listed episodes. Every fit uses the whole log.

// MQL and MWL, linear in random Fourier features.
struct LinearFitOptions {
  FourierOptions features;
  LinearValueOptions values;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("features", features, "of states, actions and the step");
    v.Field("values", values, "fit of both");
  }
};

// A minute for all of DualDICE, GenDICE and MRDR on a log of 1000 x 100 steps: small networks,
// which take more steps in the same time.
LagrangianOptions QuickDualDice();
LagrangianOptions QuickGenDice();
MrdrOptions QuickMrdr();

// How what estimators need is fitted.
struct EstimatorFitOptions {
  ModelValueOptions model;
  FqeOptions fqe;
  LinearFitOptions linear = {};
  LagrangianOptions dual_dice = QuickDualDice();
  LagrangianOptions gen_dice = QuickGenDice();
  MrdrOptions mrdr = QuickMrdr();

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("model", model, "values and visited states in the learned model");
    v.Field("fqe", fqe, "fitted Q evaluation");
    v.Field("linear", linear, "minimax Q and weight learning");
    v.Field("dual_dice", dual_dice, "DualDICE");
    v.Field("gen_dice", gen_dice, "GenDICE");
    v.Field("mrdr", mrdr, "more robust doubly robust evaluation");
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

// The estimand of a configuration.
Estimand EstimandOf(const EstimandOptions& options);

// Values "model", log-ratios "model_visitation" and the share of running episodes; needs models.
ModelValues ModelValueStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes);

// Values "fqe".
ValueArrays FqeStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes);

struct LinearArrays {
  ValueArrays values;              // "mql"
  Array<double, 2> weights;        // "mwl", [n, T]
  std::vector<std::string> notes;  // how well the systems were conditioned
};
LinearArrays LinearStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes);

struct RatioArrays {
  Array<double, 2> log_ratios;     // [n, T]
  std::vector<std::string> notes;  // of the fit
};
// Log-ratios of the regularized Lagrangian by that name: "dual_dice" or "gen_dice".
RatioArrays LagrangianStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                            const LagrangianOptions& options, const std::string& name);

struct MrdrArrays {
  ValueArrays values;
  std::vector<std::string> notes;  // how many ratios were clipped
};
// Values "mrdr". action_log_ratios of all episodes of the log, [episodes, T].
MrdrArrays MrdrStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                     const Array<double, 2>& action_log_ratios);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_STAGES_H_
