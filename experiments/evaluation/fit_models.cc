#include "experiments/evaluation/fit_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/run/sha256.h"
#include "core/run/shared_loop.h"
#include "experiments/evaluation/noise_stage.h"
#include "models/torchscript_function.h"
#include "ope/judgement/backtest.h"
#include "ope/rollouts/learned_task_rules.h"

namespace lfiw::experiments {
namespace {

// Passes the progress of one of several stages on to the bar that they share.
class SharedProgress : public Progress {
 public:
  explicit SharedProgress(Progress& bar) : bar_(bar) {}
  void Advance(std::int64_t done) override { bar_.Advance(done); }
  void Resume(std::int64_t done) override { bar_.Resume(done); }
  void Skip(std::int64_t left) override { bar_.Skip(left); }
  void Note(const std::string& text) override { bar_.Note(text); }

 private:
  Progress& bar_;
};

// Stages whose progress is shown as one bar.
class SharedWork {
 public:
  SharedWork(const StageContext& context, const std::string& title, std::int64_t steps)
      : work_(context.Work()), bar_(work_.StartProgress(title, steps, "gradient steps")) {
    work_.start_progress = [this](const std::string&, std::int64_t, const std::string&) {
      return std::make_unique<SharedProgress>(*bar_);
    };
  }
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  const StageWork& work() const { return work_; }

 private:
  StageWork work_;
  std::unique_ptr<Progress> bar_;
};

DynamicsMemberStage::Key MemberKey(const EvaluationConfig& config, const LogSplit& split,
                                   std::int64_t member) {
  // what a member learns does not depend on how many others there are
  DynamicsOptions options = config.dynamics;
  options.members = 1;
  return {options, member, split.dynamics,
          split.skipped.empty() ? std::vector<std::int64_t>()
                                : split.skipped[static_cast<std::size_t>(member)],
          config.seed};
}

// Fits all members, each as a stage of its own, and puts them together.
Artifact FitMembers(const StageContext& context, const LogSource& log, const LogSplit& split) {
  const EvaluationConfig& config = context.config;
  const std::int64_t count = config.dynamics.members;
  const SharedWork shared(context, "fit dynamics", count * config.dynamics.fit.steps);
  std::vector<Artifact> members(static_cast<std::size_t>(count));
  ShareTasks(context.cache, count, [&](std::int64_t k) {
    members[static_cast<std::size_t>(k)] =
        context.cache.Run<DynamicsMemberStage>(MemberKey(config, split, k), {log}, shared.work());
  });
  return context.cache.Run<DynamicsStage>(
      {config.dynamics, split.dynamics, split.skipped, config.seed}, {log, members},
      context.Work());
}

// What is measured of a model: how well it predicts, and classifiers of its errors.
struct ModelMeasurements {
  Artifact report;
  std::vector<Artifact> classifiers;
};

// Fits all classifiers, each as a stage of its own, so that more of them cost only the new ones,
// beside the measurement of the model's errors.
ModelMeasurements MeasureModel(const StageContext& context, const LogSource& log,
                               const Artifact& dynamics, const DynamicsEnsemble& ensemble,
                               const std::vector<std::int64_t>& episodes, std::int64_t count) {
  const EvaluationConfig& config = context.config;
  const ClassifierOptions& options = config.classifiers.fit;
  const SharedWork shared(context, "fit classifiers", count * options.fit.steps);
  ModelMeasurements out;
  out.classifiers.resize(static_cast<std::size_t>(count));
  ShareTasks(context.cache, count + 1, [&](std::int64_t c) {
    if (c == 0) {
      out.report = context.cache.Run<DynamicsReportStage>(
          {episodes, config.value.horizon}, {log, dynamics, ensemble}, context.Work());
      return;
    }
    out.classifiers[static_cast<std::size_t>(c - 1)] = context.cache.Run<ClassifierStage>(
        {options, c - 1, episodes, config.seed}, {log, dynamics, ensemble}, shared.work());
  });
  return out;
}

template <class T>
void Append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Loads the reward of a TorchScript module; null where the configuration names none.
std::shared_ptr<const ScalarOfTransition> RewardFromFile(const TaskOptions& task,
                                                         const EpisodeBatch& log) {
  if (task.reward != RewardFunction::kTorchScript) return nullptr;
  return TorchScriptFunction::Load(task.reward_file, log.obs_dim(), log.action_dim());
}

// Whether more than half of the episodes that terminate do so at the longest length.
bool EndsAtLimit(const EpisodeBatch& log) {
  const std::int64_t longest = LongestEpisode(log);
  std::int64_t ends = 0, at_limit = 0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    if (log.terminated[static_cast<std::size_t>(e)] == 0) continue;
    ++ends;
    at_limit += log.Length(e) == longest ? 1 : 0;
  }
  return 2 * at_limit > ends;
}

// The log in which ends at or behind step T of the horizon are none, where most ends are at the
// longest length, as those of time limits that are marked as terminal are. Within T steps they
// count for nothing, and a function of the state that is fitted to them ends others early. Nothing
// where there are no such ends.
std::optional<LogSource> WithoutEndsAtHorizon(const LogSource& log, std::int64_t horizon) {
  if (!EndsAtLimit(log.log) || LongestEpisode(log.log) < horizon) return std::nullopt;
  LogSource other = log;
  for (std::int64_t e = 0; e < other.log.episodes(); ++e) {
    if (other.log.Length(e) >= horizon) other.log.terminated[static_cast<std::size_t>(e)] = 0;
  }
  other.hash += fmt::format(" without ends from step {} on", horizon);
  return other;
}

// Learns what the environment does not give.
void LearnFunctions(const StageContext& context, const LogSource& log, const LogSplit& split,
                    FittedModels& models) {
  const TaskOptions& task = context.config.task;
  // only the doubly robust estimate holds logged steps against what is learned from them
  const auto skipped = context.config.doubly_robust.enabled && !split.skipped.empty()
                           ? SkipFolds(log.log.episodes(), context.config.log.cross_fit,
                                       task.learned.members, context.config.seed)
                           : std::vector<std::vector<std::int64_t>>{};
  const auto key_of = [&](FunctionKind kind) {
    return LearnedFunctionStage::Key{kind, task.learned, split.dynamics, skipped,
                                     context.config.seed};
  };
  const auto learn = [&](FunctionKind kind, const LogSource& from) {
    const Artifact artifact =
        context.cache.Run<LearnedFunctionStage>(key_of(kind), {from}, context.Work());
    models.hashes.push_back(artifact.content_hash);
    models.model_hashes.push_back(artifact.content_hash);
    return artifact;
  };
  const auto function_of = [](const Artifact& artifact) {
    return std::make_shared<const LearnedFunction>(LearnedFunctionStage::Function(artifact));
  };
  const std::optional<LogSource> other =
      task.termination == TerminationSource::kLearned
          ? WithoutEndsAtHorizon(log, context.config.value.horizon)
          : std::nullopt;
  const LogSource& ends = other ? *other : log;
  const bool any_end = std::ranges::find(ends.log.terminated, 1) != ends.log.terminated.end();
  if (task.reward == RewardFunction::kLearned && task.termination == TerminationSource::kLearned &&
      any_end) {
    // both side by side with other processes
    ShareInTurn(context.cache, 2, [&](std::int64_t i) {
      const FunctionKind kind = i == 0 ? FunctionKind::kReward : FunctionKind::kTermination;
      context.cache.Prepare<LearnedFunctionStage>(key_of(kind), {i == 0 ? log : ends},
                                                  context.Work());
    });
  }
  if (task.reward == RewardFunction::kLearned) {
    const Artifact artifact = learn(FunctionKind::kReward, log);
    models.reward = function_of(artifact);
    models.learned.reward = LearnedFunctionStage::ReadRewardErrors(artifact);
  }
  if (task.termination != TerminationSource::kLearned) return;
  if (!any_end) {
    models.learned.termination_note = "no episode of the log ends before its time";
    return;
  }
  const Artifact artifact = learn(FunctionKind::kTermination, ends);
  const TerminationErrors errors = LearnedFunctionStage::ReadTerminationErrors(artifact);
  models.learned.termination = errors;
  // ends by chance have a probability at every step, which is learned; those at a limit have not
  if (2 * errors.missed > errors.positives && EndsAtLimit(ends.log)) {
    models.learned.termination_note =
        "most ends of logged episodes are at their longest length and cannot be told from their "
        "states, as time limits cannot; episodes of the model run for T steps";
    return;
  }
  models.termination = function_of(artifact);
}

// Takes from a model with measured noise what the returns of the logged policy do not bear out;
// `dynamics` becomes the artifact of the ensemble that is left.
void ChooseNoiseOf(const StageContext& context, const LogSource& log,
                   const std::optional<PolicySource>& behavior, Artifact& dynamics,
                   FittedModels& models) {
  const EvaluationConfig& config = context.config;
  const bool measured = models.noise && models.dynamics.has_noise();
  if (!measured || !behavior ||
      !LoggedValue(log.log, config.value, config.value.horizon).has_value()) {
    return;
  }
  const Artifact chosen = context.cache.Run<NoiseStage>(
      {TaskKeyOf(context), config.value, config.rollout, config.seed},
      {context.task, log, models, *behavior, dynamics}, context.Work());
  models.noise_choice = NoiseStage::Choice(chosen);
  models.dynamics = DynamicsStage::Ensemble(chosen);
  std::ranges::replace(models.hashes, dynamics.content_hash, chosen.content_hash);
  std::ranges::replace(models.model_hashes, dynamics.content_hash, chosen.content_hash);
  dynamics = chosen;
}

}  // namespace

FittedModels FitModels(const StageContext& context, const LogSource& log,
                       const std::optional<PolicySource>& behavior, const LogSplit& split,
                       std::int64_t classifiers) {
  return FitModels(context, log, log, behavior, split, classifiers);
}

FittedModels FitModels(const StageContext& context, const LogSource& dynamics_log,
                       const LogSource& log, const std::optional<PolicySource>& behavior,
                       const LogSplit& split, std::int64_t classifiers) {
  const EvaluationConfig& config = context.config;
  // a wrong file shall be named before hours of training
  std::shared_ptr<const ScalarOfTransition> reward = RewardFromFile(config.task, log.log);
  Artifact dynamics = FitMembers(context, dynamics_log, split);
  FittedModels models(DynamicsStage::Ensemble(dynamics));
  models.fitted = dynamics;
  models.dynamics_histories = DynamicsStage::Histories(dynamics);
  models.noise = DynamicsStage::Noise(dynamics);
  models.hashes = models.model_hashes = {dynamics.content_hash};
  LearnFunctions(context, log, split, models);
  if (reward) {
    models.reward = std::move(reward);
    const std::string hash = Sha256HexOfFile(config.task.reward_file);
    models.hashes.push_back(hash);
    models.model_hashes.push_back(hash);
  }
  ChooseNoiseOf(context, log, behavior, dynamics, models);

  const ModelMeasurements measured =
      MeasureModel(context, log, dynamics, models.dynamics, split.classifiers, classifiers);
  models.dynamics_report = DynamicsReportStage::Read(measured.report);
  for (const Artifact& artifact : measured.classifiers) {
    models.classifiers.push_back(ClassifierStage::Classifier(artifact));
    models.classifier_histories.push_back(ClassifierStage::History(artifact));
    const HeldOutRatios held_out = ReadHeldOut(artifact);
    Append(models.held_out.real, held_out.real);
    Append(models.held_out.generated, held_out.generated);
    Append(models.held_out.episodes, held_out.episodes);
    models.hashes.push_back(artifact.content_hash);
  }
  return models;
}

bool HasFirstFit(const StageContext& context, const LogSource& log, const LogSplit& split) {
  return context.cache.Has<DynamicsMemberStage>(MemberKey(context.config, split, 0), {log});
}

}  // namespace lfiw::experiments
