#include <string>
#include <utility>

#include "ope/estimator.h"
#include "ope/estimators/direct_method.h"
#include "ope/estimators/doubly_robust.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "ope/estimators/importance_sampling.h"
#include "ope/estimators/marginal.h"
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
  AddImportanceSampling(registry);
  AddDirect(registry);
  for (const char* values : {"fqe", "mrdr", "model"}) AddDoublyRobust(registry, values);
  for (Estimator& marginal : MarginalEstimators()) registry.Add(std::move(marginal));
  for (Estimator& row : DoublyRobustLfiwEstimators()) registry.Add(std::move(row));
  AddRollouts(registry);
  return registry;
}

}  // namespace lfiw::ope
