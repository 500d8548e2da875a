#include "experiments/evaluation/stage_outline.h"

#include <algorithm>
#include <set>
#include <string>

#include "experiments/evaluation/family_stage.h"
#include "experiments/evaluation/model_stages.h"
#include "experiments/evaluation/noise_stage.h"
#include "experiments/evaluation/policy_evaluation.h"
#include "experiments/evaluation/rollout_stage.h"
#include "experiments/evaluation/source_stages.h"
#include "ope/fit.h"

namespace lfiw::experiments {
namespace {

// The fits that the cache keeps of one policy.
std::vector<std::string> KeptFits(const EvaluationConfig& config) {
  const FitRegistry fits = StandardFits();
  const std::set<std::string> needs = fits.WithNeedsOfFits(NeedsOf(config));
  std::vector<std::string> names;
  for (const FitMethod& fit : fits.all()) {
    const bool kept = fit.on_log && !fit.on_arrays && fit.storage == FitStorage::kKept;
    if (kept && fit.Serves(needs)) names.push_back("fit_" + fit.name);
  }
  return names;
}

// Stages of one fitted model.
void AddModel(const EvaluationConfig& config, std::int64_t classifiers, bool behavior,
              std::vector<ExpectedStage>& out) {
  const auto add = [&](const StageInfo& info, std::int64_t count) {
    out.push_back({std::string(info.name), count});
  };
  add(DynamicsMemberStage::kInfo, config.dynamics.members);
  add(DynamicsStage::kInfo, 1);
  add(LearnedFunctionStage::kInfo,
      (config.task.reward == RewardFunction::kLearned ? 1 : 0) +
          (config.task.termination == TerminationSource::kLearned ? 1 : 0));
  add(NoiseStage::kInfo, behavior && config.dynamics.kind == DynamicsChoice::kAuto ? 1 : 0);
  add(DynamicsReportStage::kInfo, 1);
  add(ClassifierStage::kInfo, classifiers);
}

}  // namespace

std::vector<ExpectedStage> OutlineOf(const EvaluationConfig& config) {
  std::vector<ExpectedStage> out;
  const auto add = [&](const StageInfo& info, std::int64_t count) {
    out.push_back({std::string(info.name), count});
  };
  const bool files = config.policies.pair == PolicyPair::kFiles;
  const std::int64_t policies = files ? std::ssize(config.policies.evaluation_files) : 1;
  const bool back_test = config.back_test.enabled;
  const bool given = !files || !config.policies.behavior_file.empty();
  const bool behavior = given || back_test;
  if (!files) add(PolicyStage::kInfo, config.policies.pair == PolicyPair::kIndependent ? 2 : 1);
  if (config.log.file.empty()) add(LogStage::kInfo, 1);
  if (!given && back_test) add(BehaviorCloneStage::kInfo, 1);
  AddModel(config, config.classifiers.instances + config.intervals.classifier_replicates, behavior,
           out);
  const std::int64_t replicates = config.intervals.pipeline_replicates;
  for (std::int64_t b = 0; b < replicates; ++b) {
    AddModel(config, config.classifiers.instances, behavior, out);
  }
  const bool family = config.calibrate && behavior && config.dynamics.members >= 2;
  add(RolloutStage::kInfo,
      policies * (1 + replicates) + ((back_test || family) && behavior ? 1 : 0));
  if (family) add(FamilyStage::kInfo, policies + 1);
  for (const std::string& fit : KeptFits(config)) out.push_back({fit, policies});
  if (config.truth.enabled) add(TruthStage::kInfo, policies);
  return out;
}

}  // namespace lfiw::experiments
