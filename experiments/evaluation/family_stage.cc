#include "experiments/evaluation/family_stage.h"

#include <algorithm>
#include <memory>

#include "core/arrays/npz.h"
#include "experiments/evaluation/model_stages.h"

namespace lfiw::experiments {
namespace {

constexpr const char* kFamilyFile = "family.npz";

FamilyStage::Key FamilyKeyOf(const StageContext& context) {
  const EvaluationConfig& config = context.config;
  return {TaskKeyOf(context), config.value, config.rollout, config.seed};
}

}  // namespace

std::vector<std::string> FamilyStage::Inputs::Hashes() const {
  std::vector<std::string> hashes = models.model_hashes;
  hashes.insert(hashes.end(), {models.fitted.content_hash, log.hash, policy.hash});
  return hashes;
}

void FamilyStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const std::int64_t episodes = key.rollout.member_episodes;
  const auto progress = work.StartProgress("roll out " + inputs.policy.label + " in every member",
                                           std::ssize(kFamilyScales) * episodes, "episodes");
  const std::unique_ptr<TaskRules> rules =
      ModelTaskRules(key.task, inputs.task.env.get(), key.rollout.reward, inputs.models);
  const EpisodeBatch& log = inputs.log.log;
  const MatrixF starts = key.rollout.start == RolloutStart::kLog
                             ? StartStatesFromLog(log, episodes, key.seed)
                             : StartStatesFromEnv(*inputs.task.env, episodes, key.seed);
  const ClampRange range = RangeOfLog(log, key.rollout.clamp_margin);
  std::vector<double> values, errors;
  for (const double scale : kFamilyScales) {
    DynamicsEnsemble ensemble = DynamicsStage::Ensemble(inputs.models.fitted);
    ensemble.ScaleNoise(static_cast<float>(scale));
    const MemberReturns returns = ReturnsByMember({.dynamics = ensemble,
                                                   .ratios = {},
                                                   .policy = *inputs.policy.policy,
                                                   .spec = inputs.task.spec,
                                                   .functions = *rules,
                                                   .start_states = starts,
                                                   .range = range},
                                                  key.value, episodes, key.value.horizon, key.seed);
    values.insert(values.end(), returns.means.begin(), returns.means.end());
    errors.insert(errors.end(), returns.standard_errors.begin(), returns.standard_errors.end());
    progress->Advance(episodes);
  }
  NpzFile file;
  file.Put("values", values);
  file.Put("errors", errors);
  file.Write(work.File(kFamilyFile));
}

FamilyValues FamilyStage::Read(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kFamilyFile));
  const std::vector<double> values = file.GetDoubles("values"), errors = file.GetDoubles("errors");
  const std::int64_t scales = std::ssize(kFamilyScales);
  FamilyValues out{Array<double, 2>({scales, std::ssize(values) / scales}),
                   errors.empty() ? 0.0 : *std::ranges::max_element(errors)};
  std::ranges::copy(values, out.values.flat().begin());
  return out;
}

FamilyValues ValuesInFamily(const StageContext& context, const LogSource& log,
                            const FittedModels& models, const PolicySource& policy) {
  return FamilyStage::Read(context.cache.Run<FamilyStage>(
      FamilyKeyOf(context), {context.task, log, models, policy}, context.Work()));
}

void PrepareFamily(const StageContext& context, const LogSource& log, const FittedModels& models,
                   const PolicySource& policy) {
  context.cache.Prepare<FamilyStage>(FamilyKeyOf(context), {context.task, log, models, policy},
                                     context.Work());
}

}  // namespace lfiw::experiments
