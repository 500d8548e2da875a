#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ope/estimator.h"
#include "ope/estimators/direct_method.h"
#include "ope/estimators/doubly_robust.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "ope/estimators/importance_sampling.h"
#include "ope/estimators/marginal.h"
#include "ope/rollouts/calibrated_model.h"
#include "ope/rollouts/lfiw_horizons.h"
#include "ope/rollouts/rollout_estimators.h"

namespace lfiw::ope {
namespace {

void AddImportanceSampling(EstimatorRegistry& registry) {
  for (const WeightedBy by : {WeightedBy::kTrajectory, WeightedBy::kStep}) {
    for (const WeightNormalization normalization :
         {WeightNormalization::kNone, WeightNormalization::kSelf}) {
      ImportanceSamplingOptions options;
      options.weighted_by = by;
      options.normalization = normalization;
      registry.Add(Configurable<ImportanceSamplingOptions>(options, ImportanceSampling));
    }
  }
}

// The log's own mean return: what an estimate of another policy must beat.
Estimator Logged() {
  return {.name = "logged",
          .summary = "the mean return of the log, whatever the policy",
          .horizons = HorizonSupport::kFinite,
          .needs = {},
          .estimate = [](const EstimatorInputs& inputs, const Estimand& estimand) {
            const std::vector<double> factors = StepFactors(estimand, inputs.steps());
            Estimate out;
            out.terms.numerators = Array<double, 2>({inputs.episodes(), 1});
            out.terms.denominators = Array<double, 2>({inputs.episodes(), 0});
            for (std::int64_t i = 0; i < inputs.episodes(); ++i) {
              double sum = 0.0;
              for (std::int64_t t = 0; t < inputs.steps(); ++t) {
                sum += factors[static_cast<std::size_t>(t)] * inputs.rewards(i, t);
              }
              out.terms.numerators(i, 0) = sum;
            }
            return out;
          }};
}

void AddDirect(EstimatorRegistry& registry) {
  registry.Add(DirectMethod("fqe", "fqe", "fitted Q evaluation"));
  registry.Add(DirectMethod("mrdr", "mrdr", "fitted for doubly robust (Farajtabar et al. 2018)"));
  registry.Add(DirectMethod("mql", "mql", "minimax Q learning (Uehara et al. 2020)"));
  registry.Add(DirectMethod("model_value", "model", "fitted to rollouts in the learned model"));
}

void AddDoublyRobust(EstimatorRegistry& registry, const std::string& values) {
  DoublyRobustOptions options;
  options.values = values;
  options.normalization = WeightNormalization::kNone;
  registry.Add(Configurable<DoublyRobustOptions>(options, DoublyRobust));
  options.normalization = WeightNormalization::kSelf;
  registry.Add(Configurable<DoublyRobustOptions>(options, DoublyRobust));
  MagicOptions magic;
  magic.doubly_robust = options;
  registry.Add(Configurable<MagicOptions>(magic, Magic));
}

void AddRollouts(EstimatorRegistry& registry) {
  registry.Add(PlainRollouts());
  for (const LfiwVariant variant :
       {LfiwVariant::kTrajectory, LfiwVariant::kPerDecision, LfiwVariant::kStepwise}) {
    LfiwOptions options;
    options.variant = variant;
    for (const WeightedSteps steps : {WeightedSteps::kAll, WeightedSteps::kReliable}) {
      registry.Add(Configurable<LfiwOptions>(
          options, [steps](const LfiwOptions& chosen) { return Lfiw(chosen, steps); }));
    }
  }
  for (Estimator& rule : HorizonRuleEstimators()) registry.Add(std::move(rule));
}

}  // namespace

EstimatorRegistry StandardEstimators() {
  EstimatorRegistry registry;
  registry.Add(Logged());
  AddImportanceSampling(registry);
  AddDirect(registry);
  for (const char* values : {"fqe", "mrdr", "model"}) AddDoublyRobust(registry, values);
  for (Estimator& marginal : MarginalEstimators()) registry.Add(std::move(marginal));
  for (Estimator& row : DoublyRobustLfiwEstimators()) registry.Add(std::move(row));
  AddRollouts(registry);
  registry.Add(CalibratedModelEstimator());
  return registry;
}

}  // namespace lfiw::ope
