#ifndef LFIW_EXPERIMENTS_EVALUATION_POLICY_EVALUATION_H_
#define LFIW_EXPERIMENTS_EVALUATION_POLICY_EVALUATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/result_table.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/result_rows.h"
#include "experiments/evaluation/run_context.h"
#include "ope/rollouts/calibrated_model.h"

namespace lfiw::experiments {

// The judged estimates of policies from a log and what is fitted to it: the part of the pipeline
// that `lfiw evaluate` and the calibration of its verdict share. Nothing is written but the stages
// that the cache keeps.

// Values in every model of a family, of an evaluated policy and of the one that wrote the log.
struct PolicyFamily {
  FamilyValues own;
  std::shared_ptr<const FamilyValues> logged;
};

// One evaluated policy with what was measured of it.
struct PolicyEvaluation {
  PolicySource policy;
  std::int64_t clamped_values = 0;
  std::int64_t predicted_values = 0;
  EvaluationMeasurements measured;
  std::vector<JudgedRow> rows;              // all of results.csv that are about it
  std::optional<PolicyFamily> family = {};  // where the model is calibrated

  const ResultRow& stated() const { return FindRow(ChooseHeadline(measured).key, rows).row; }
  // The back-test of the estimate stated first: of a calibrated model that of the plain one, whose
  // error for the logged policy it takes away. None is made of a doubly robust estimate.
  std::optional<Backtest> back_test() const {
    return FindRow(ChooseHeadline(measured).key, rows).evidence.back_test;
  }
};

// What evaluations start from. All references outlive them.
struct EvaluationInputs {
  const StageContext& context;
  const PolicySet& policies;
  const LogSource& log;
  const LogSplit& split;
  const FittedModels& models;
  std::optional<Backtest> logged;  // what the log says of the policy that wrote it
};

// What the estimates from logged episodes read (Estimator::needs).
std::set<std::string> NeedsOf(const EvaluationConfig& config);

// Evaluates every policy of `policies.evaluations`, and before them the behavior policy where the
// configuration asks for a back-test and the log gives what to hold it against. In the order given.
std::vector<PolicyEvaluation> EvaluatePolicies(const EvaluationInputs& in);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_POLICY_EVALUATION_H_
