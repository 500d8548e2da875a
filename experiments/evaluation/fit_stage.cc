#include "experiments/evaluation/fit_stage.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>

#include "core/run/sha256.h"
#include "ope/fits/fitted_arrays_file.h"

namespace lfiw::experiments {
namespace {

constexpr const char* kArraysFile = "arrays.npz";

std::string HashOf(const std::vector<double>& values) {
  const std::span<const double> all(values);
  return Sha256Hex({reinterpret_cast<const char*>(all.data()), all.size_bytes()});
}

}  // namespace

std::vector<std::string> FitStage::Inputs::Hashes() const {
  std::vector<std::string> hashes = {log.hash, policy.hash};
  if (fit.Reads(FitReads::kDynamics)) {
    hashes.insert(hashes.end(), models->model_hashes.begin(), models->model_hashes.end());
  }
  if (fit.Reads(FitReads::kBehavior)) {
    hashes.push_back(behavior == nullptr ? "unknown" : behavior->hash);
  }
  if (fit.Reads(FitReads::kActionDensities)) {
    hashes.push_back(HashOf(densities->evaluation));
    hashes.push_back(HashOf(densities->behavior));
    hashes.push_back(densities->kind == ActionKind::kDiscrete ? "discrete" : "continuous");
  }
  return hashes;
}

StageInfo FitStage::Info(const Inputs& inputs) {
  return {.name = inputs.stage, .version = inputs.fit.version, .layer = inputs.fit.layer};
}

void FitStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const FitMethod& fit = inputs.fit;
  const FitWork amount = fit.work ? fit.work(key.options, EstimandOf(key.value)) : FitWork{};
  const auto progress = work.StartProgress(
      fmt::format("fit {} of {}", fit.name, inputs.policy.label), amount.total, amount.unit);
  const FitRun run{work.Checkpoints(), work.checkpoint_seconds, progress.get()};
  SaveFittedArrays(RunFit(key, inputs, run, {}), work.File(kArraysFile));
}

FittedArrays FitStage::Read(const Artifact& artifact) {
  return LoadFittedArrays(artifact.File(kArraysFile));
}

FittedArrays RunFit(const FitStage::Key& key, const FitStage::Inputs& inputs, const FitRun& run,
                    const FitRollouts& rollouts) {
  FitSources sources{
      .log = inputs.log.log,
      .episodes = key.episodes,
      .policy = *inputs.policy.policy,
      .spec = inputs.task.spec,
      .estimand = EstimandOf(key.value),
      .columns = key.value.horizon,
      .seed = key.seed,
      .densities = inputs.densities,
      .dynamics = nullptr,
      .behavior = inputs.behavior == nullptr ? nullptr : inputs.behavior->policy.get(),
      .run = run};
  if (!inputs.fit.Reads(FitReads::kDynamics)) return inputs.fit.on_log(sources, key.options);
  const std::unique_ptr<TaskRules> rules =
      ModelTaskRules(key.task, inputs.task.env.get(), key.rollout->reward, *inputs.models);
  const ClampRange range = RangeOfLog(inputs.log.log, key.rollout->clamp_margin);
  const FittedDynamics dynamics{.dynamics = inputs.models->dynamics,
                                .rules = *rules,
                                .range = range,
                                .roll_out = rollouts.roll_out,
                                .family = rollouts.family};
  sources.dynamics = &dynamics;
  return inputs.fit.on_log(sources, key.options);
}

Estimand EstimandOf(const EstimandOptions& options) {
  Estimand estimand;
  static_cast<ValueOptions&>(estimand) = options;
  if (!options.infinite()) estimand.horizon = options.horizon;
  return estimand;
}

}  // namespace lfiw::experiments
