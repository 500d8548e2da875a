#include "experiments/evaluation/rollout_stage.h"

#include <memory>

#include "core/rng.h"

namespace lfiw::experiments {
namespace {

constexpr const char* kRolloutFile = "rollouts.npz";

RolloutStage::Key RolloutKeyOf(const StageContext& context) {
  const EvaluationConfig& config = context.config;
  return {TaskKeyOf(context), config.rollout, config.value.horizon, config.seed};
}

}  // namespace

std::vector<std::string> RolloutStage::Inputs::Hashes() const {
  std::vector<std::string> hashes = models.hashes;
  hashes.insert(hashes.end(), {log.hash, policy.hash});
  return hashes;
}

void RolloutStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const RolloutOptions& options = key.options;
  const std::int64_t count = options.repetitions * options.episodes;
  const auto progress = work.StartProgress("roll out " + inputs.policy.label, count, "episodes");
  const EnvFactory* env = inputs.task.env.get();
  const std::unique_ptr<TaskRules> rules =
      ModelTaskRules(key.task, env, options.reward, inputs.models);
  const EpisodeBatch& log = inputs.log.log;
  const MatrixF starts = options.start == RolloutStart::kLog
                             ? StartStatesFromLog(log, count, key.seed)
                             : StartStatesFromEnv(*env, count, key.seed);
  const ClampRange range = RangeOfLog(log, options.clamp_margin);
  std::vector<const TransitionRatio*> ratios;
  for (const RatioClassifier& classifier : inputs.models.classifiers) {
    ratios.push_back(&classifier);
  }
  const RolloutInputs rollout{.dynamics = inputs.models.dynamics,
                              .ratios = ratios,
                              .policy = *inputs.policy.policy,
                              .spec = inputs.task.spec,
                              .functions = *rules,
                              .start_states = starts,
                              .range = range};
  RollOutInModel(rollout, options, key.horizon, key.seed, progress.get())
      .Save(work.File(kRolloutFile));
}

ModelRollouts RolloutStage::Read(const Artifact& artifact) {
  return ModelRollouts::Load(artifact.File(kRolloutFile));
}

ModelRollouts RollOut(const StageContext& context, const LogSource& log, const FittedModels& models,
                      const PolicySource& policy) {
  return RolloutStage::Read(context.cache.Run<RolloutStage>(
      RolloutKeyOf(context), {context.task, log, models, policy}, context.Work()));
}

void PrepareRollOut(const StageContext& context, const LogSource& log, const FittedModels& models,
                    const PolicySource& policy) {
  context.cache.Prepare<RolloutStage>(RolloutKeyOf(context), {context.task, log, models, policy},
                                      context.Work());
}

}  // namespace lfiw::experiments
