#include "experiments/evaluation/model_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/arrays/npz.h"
#include "core/config/config.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/run/sha256.h"
#include "experiments/presentation/stage_files.h"
#include "models/classifier_fit.h"
#include "models/dynamics_checks.h"
#include "models/dynamics_fit.h"
#include "models/learned_function_fit.h"
#include "models/torchscript_function.h"
#include "ope/rollouts/learned_task_rules.h"
#include "policies/files/policy_file.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

json HistoryJson(const FitHistory& history) {
  return {{"step", history.steps},
          {"train", history.train_loss},
          {"validation", history.validation_loss}};
}

FitRun FitRunIn(const StageContext& context, const std::string& directory, Progress& progress) {
  return {CheckpointFolder(directory), context.config.checkpoint_seconds, &progress};
}

// The cross-fitting folds, for the key of a stage; nothing without them.
std::string FoldsText(const LogSplit& split) {
  std::string text;
  for (const auto& skipped : split.skipped) text += fmt::format(";{}", fmt::join(skipped, ","));
  return text;
}

// The dynamics of one fit, as a stage.
Artifact DynamicsStage(const StageContext& context, const LogSource& log, const LogSplit& split) {
  const DynamicsOptions& options = context.config.dynamics;
  const Stage stage{.name = "dynamics",
                    .config = CanonicalText(options) +
                              fmt::format("{}", fmt::join(split.dynamics, ",")) + FoldsText(split),
                    .inputs = {log.hash},
                    .seed = context.config.seed};
  return context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("fit dynamics", options.members * options.fit.steps, "gradient steps",
                              context.verbosity);
    const DynamicsFit fit = FitDynamics(log.log, split.dynamics, options, context.config.seed,
                                        FitRunIn(context, directory, progress), split.skipped);
    fit.ensemble.Save(directory + "/dynamics.npz");
    json history = json::array();
    for (std::size_t k = 0; k < fit.summary.members.size(); ++k) {
      json member = HistoryJson(fit.summary.members[k].fit.history);
      member["member"] = k;
      history.push_back(std::move(member));
    }
    WriteJson(history, directory + "/history.json");
  });
}

// Held-out quality of the dynamics, on the classifiers' episodes.
json DynamicsReport(const StageContext& context, const LogSource& log, const Artifact& dynamics,
                    const DynamicsEnsemble& ensemble, const std::vector<std::int64_t>& episodes) {
  const Stage stage{.name = "dynamics_report",
                    .config = fmt::format("{}", fmt::join(episodes, ",")),
                    .inputs = {log.hash, dynamics.content_hash},
                    .seed = 0};
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    const DynamicsErrors errors = OneStepErrors(ensemble, log.log, episodes);
    const std::vector<double> open_loop =
        OpenLoopError(ensemble, log.log, episodes, context.config.value.horizon);
    std::vector<std::int64_t> k(open_loop.size());
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = static_cast<std::int64_t>(i) + 1;
    json report = {{"kind", EnumName(ensemble.kind())},
                   {"members", ensemble.members()},
                   {"r2", errors.r2},
                   {"open_loop", {{"k", k}, {"rms", open_loop}}},
                   {"history", ReadJson(dynamics.File("history.json"))}};
    if (errors.mixture_nll) report["nll"] = *errors.mixture_nll;
    WriteJson(report, directory + "/report.json");
  });
  return ReadJson(artifact.File("report.json"));
}

// Episodes drawn with replacement for one classifier, and those left out.
struct Bootstrap {
  std::vector<std::int64_t> drawn, left_out;
};

Bootstrap DrawBootstrap(const std::vector<std::int64_t>& episodes, std::uint64_t seed,
                        std::uint64_t index) {
  Stream stream(seed, "classifier bootstrap", {index});
  Bootstrap out;
  std::vector<bool> seen(episodes.size(), false);
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const auto pick = static_cast<std::size_t>(stream.Below(episodes.size()));
    out.drawn.push_back(episodes[pick]);
    seen[pick] = true;
  }
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    if (!seen[i]) out.left_out.push_back(episodes[i]);
  }
  return out;
}

// The transitions `real` of the listed episodes with outcomes drawn from the model, for each row a
// random member among those that may stand for it there.
Transitions DrawPartners(const TransitionModel& model, const EpisodeBatch& log,
                         const std::vector<std::int64_t>& episodes, const Transitions& real,
                         Stream stream) {
  Transitions fake;  // the states and actions are those of `real`
  fake.next_states.resize(real.size(), model.obs_dim());
  fake.aux.resize(real.size(), model.aux_dim());
  std::vector<std::int64_t> member;
  for (const std::int64_t e : episodes) {
    const std::vector<std::int64_t> members = model.MembersFor(e);
    for (std::int64_t t = 0; t < log.Length(e); ++t) {
      member.push_back(members[static_cast<std::size_t>(stream.Below(members.size()))]);
    }
  }
  MatrixF noise(real.size(), model.noise_dim());
  stream.FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  model.Sample(real.states, real.actions, member, noise, fake.next_states, fake.aux);
  return fake;
}

// Log-ratios of a classifier on unseen real transitions and on one generated partner of each.
void SaveHeldOut(const RatioClassifier& classifier, const DynamicsEnsemble& dynamics,
                 const EpisodeBatch& log, const std::vector<std::int64_t>& episodes,
                 std::uint64_t seed, std::uint64_t index, const std::string& path) {
  const Transitions real = GatherTransitions(log, episodes);
  const Transitions fake = DrawPartners(dynamics, log, episodes, real,
                                        Stream(seed, "classifier held-out negatives", {index}));
  std::vector<double> real_ratios(static_cast<std::size_t>(real.size()));
  std::vector<double> fake_ratios(real_ratios.size());
  classifier.LogRatios(real.states, real.actions, real.next_states, real.aux, real_ratios);
  classifier.LogRatios(real.states, real.actions, fake.next_states, fake.aux, fake_ratios);
  NpzFile file;
  file.Put("real", real_ratios);
  file.Put("generated", fake_ratios);
  file.Write(path);
}

// All classifiers, each a stage of its own, so that more of them cost only the new ones.
std::vector<Artifact> ClassifierStages(const StageContext& context, const LogSource& log,
                                       const Artifact& dynamics, const DynamicsEnsemble& ensemble,
                                       const std::vector<std::int64_t>& episodes,
                                       std::int64_t count) {
  const ClassifierOptions& options = context.config.classifiers.fit;
  const std::uint64_t seed = context.config.seed;
  TerminalProgress progress("fit classifiers", count * options.fit.steps, "gradient steps",
                            context.verbosity);
  std::vector<Artifact> artifacts(static_cast<std::size_t>(count));
  ParallelFor(count, [&](std::int64_t c) {
    const auto index = static_cast<std::uint64_t>(c);
    const Stage stage{
        .name = "classifier",
        .config = CanonicalText(options) + fmt::format("{}:{}", c, fmt::join(episodes, ",")),
        .inputs = {log.hash, dynamics.content_hash},
        .seed = seed};
    artifacts[static_cast<std::size_t>(c)] =
        context.cache.Run(stage, [&](const std::string& directory) {
          const Bootstrap bootstrap = DrawBootstrap(episodes, seed, index);
          const ClassifierFit fit = FitClassifier(log.log, bootstrap.drawn, ensemble, options, seed,
                                                  c, FitRunIn(context, directory, progress));
          fit.classifier.Save(directory + "/classifier.npz");
          WriteJson(HistoryJson(fit.summary.fit.history), directory + "/history.json");
          SaveHeldOut(fit.classifier, ensemble, log.log, bootstrap.left_out, seed, index,
                      directory + "/held_out.npz");
        });
  });
  return artifacts;
}

void Append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

json SummaryJson(const LearnedFunctionSummary& summary, FunctionKind kind) {
  if (kind == FunctionKind::kReward) {
    return {{"rmse", summary.rmse},
            {"mean_error", summary.mean_error},
            {"r2", summary.r2 ? json(*summary.r2) : json(nullptr)}};
  }
  return {{"log_loss", summary.log_loss},
          {"positives", summary.positives},
          {"missed", summary.missed},
          {"false_alarms", summary.false_alarms}};
}

// The reward of a TorchScript module; null where the configuration names none.
std::shared_ptr<const ScalarOfTransition> RewardFromFile(const TaskOptions& task,
                                                         const EpisodeBatch& log) {
  if (task.reward != RewardFunction::kTorchScript) return nullptr;
  return TorchScriptFunction::Load(task.reward_file, log.obs_dim(), log.action_dim());
}

// A reward or termination learned from the dynamics' episodes, with its held-out errors.
Artifact LearnFunction(const StageContext& context, const LogSource& log, const LogSplit& split,
                       FunctionKind kind) {
  const LearnedFunctionOptions& options = context.config.task.learned;
  const std::string name(EnumName(kind));
  const Stage stage{
      .name = "learned_" + name,
      .config = CanonicalText(options) + fmt::format("{}", fmt::join(split.dynamics, ",")),
      .inputs = {log.hash},
      .seed = context.config.seed};
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("fit " + name, options.members * options.fit.steps, "gradient steps",
                              context.verbosity);
    const auto fit_function = kind == FunctionKind::kReward ? FitReward : FitTermination;
    const LearnedFunctionFit fit =
        fit_function(log.log, split.dynamics, options, context.config.seed,
                     FitRunIn(context, directory, progress));
    fit.function.Save(directory + "/function.npz");
    WriteJson(SummaryJson(fit.summary, kind), directory + "/summary.json");
  });
  return artifact;
}

// Learns what the environment does not give.
void LearnFunctions(const StageContext& context, const LogSource& log, const LogSplit& split,
                    FittedModels& models) {
  const auto learn = [&](FunctionKind kind) {
    const Artifact artifact = LearnFunction(context, log, split, kind);
    models.learned_report[std::string(EnumName(kind))] = ReadJson(artifact.File("summary.json"));
    models.hashes.push_back(artifact.content_hash);
    models.model_hashes.push_back(artifact.content_hash);
    return std::make_shared<const LearnedFunction>(
        LearnedFunction::Load(artifact.File("function.npz")));
  };
  const TaskOptions& task = context.config.task;
  if (task.reward == RewardFunction::kLearned) models.reward = learn(FunctionKind::kReward);
  if (task.termination != TerminationSource::kLearned) return;
  const auto& terminated = log.log.terminated;
  if (std::find(terminated.begin(), terminated.end(), 1) == terminated.end()) {
    models.learned_report["termination"] = {{"note", "no episode of the log ends before its time"}};
    return;
  }
  std::shared_ptr<const LearnedFunction> ends = learn(FunctionKind::kTermination);
  json& report = models.learned_report["termination"];
  if (2 * report["missed"].get<std::int64_t>() > report["positives"].get<std::int64_t>()) {
    report["note"] =
        "most ends of logged episodes cannot be told from their states, as time limits cannot; "
        "episodes of the model run for T steps";
    return;
  }
  models.termination = std::move(ends);
}

}  // namespace

std::unique_ptr<TaskRules> FunctionsFor(const StageContext& context, const FittedModels& models) {
  const TaskOptions& task = context.config.task;
  LearnedParts parts{.environment = nullptr,
                     .reward = models.reward,
                     .termination = models.termination,
                     .termination_source = task.termination};
  if (context.task.env != nullptr) {
    parts.environment = context.task.env->MakeTaskRules(context.config.rollout.reward);
  }
  // nothing to learn the end from: episodes run to the horizon
  if (task.termination == TerminationSource::kLearned && !models.termination) {
    parts.termination_source = TerminationSource::kNone;
  }
  return std::make_unique<LearnedTaskRules>(std::move(parts));
}

LogSplit SplitLog(std::int64_t episodes, const LogOptions& options, std::int64_t members,
                  std::uint64_t seed) {
  const std::vector<std::int64_t> order = Stream(seed, "episode split").Permutation(episodes);
  if (options.cross_fit > 0) {
    LogSplit split{order, order, {}};
    split.skipped.resize(static_cast<std::size_t>(members));
    for (std::int64_t i = 0; i < episodes; ++i) {
      for (std::int64_t k = i % options.cross_fit; k < members; k += options.cross_fit) {
        split.skipped[static_cast<std::size_t>(k)].push_back(order[static_cast<std::size_t>(i)]);
      }
    }
    return split;
  }
  const auto share =
      static_cast<std::int64_t>(options.dynamics_fraction * static_cast<double>(episodes));
  const std::ptrdiff_t cut = std::clamp<std::int64_t>(share, 1, episodes - 1);
  return {{order.begin(), order.begin() + cut}, {order.begin() + cut, order.end()}, {}};
}

LogSplit ResampleLog(const LogSplit& split, std::uint64_t seed, std::uint64_t replicate) {
  Stream stream(seed, "pipeline bootstrap", {replicate});
  const auto resample = [&](const std::vector<std::int64_t>& episodes) {
    std::vector<std::int64_t> drawn(episodes.size());
    for (std::int64_t& e : drawn) {
      e = episodes[static_cast<std::size_t>(stream.Below(drawn.size()))];
    }
    return drawn;
  };
  LogSplit out;
  out.dynamics = resample(split.dynamics);
  out.classifiers = split.skipped.empty() ? resample(split.classifiers) : out.dynamics;
  out.skipped = split.skipped;
  return out;
}

FittedModels FitModels(const StageContext& context, const LogSource& log, const LogSplit& split,
                       std::int64_t classifiers) {
  return FitModels(context, log, log, split, classifiers);
}

FittedModels FitModels(const StageContext& context, const LogSource& dynamics_log,
                       const LogSource& log, const LogSplit& split, std::int64_t classifiers) {
  // a wrong file shall be named before hours of training
  std::shared_ptr<const ScalarOfTransition> reward = RewardFromFile(context.config.task, log.log);
  const Artifact dynamics = DynamicsStage(context, dynamics_log, split);
  FittedModels models(DynamicsEnsemble::Load(dynamics.File("dynamics.npz")));
  models.dynamics_report =
      DynamicsReport(context, log, dynamics, models.dynamics, split.classifiers);
  models.hashes = models.model_hashes = {dynamics.content_hash};

  const std::vector<Artifact> artifacts =
      ClassifierStages(context, log, dynamics, models.dynamics, split.classifiers, classifiers);
  models.classifier_history = json::array();
  for (std::size_t c = 0; c < artifacts.size(); ++c) {
    const std::string& directory = artifacts[c].directory;
    models.classifiers.push_back(RatioClassifier::Load(directory + "/classifier.npz"));
    json history = ReadJson(directory + "/history.json");
    history["index"] = c;
    models.classifier_history.push_back(std::move(history));
    const NpzFile held_out = NpzFile::Read(directory + "/held_out.npz");
    Append(models.held_out_real, held_out.GetDoubles("real"));
    Append(models.held_out_generated, held_out.GetDoubles("generated"));
    models.hashes.push_back(artifacts[c].content_hash);
  }
  LearnFunctions(context, log, split, models);
  if (reward) {
    models.reward = std::move(reward);
    const std::string hash = Sha256HexOfFile(context.config.task.reward_file);
    models.hashes.push_back(hash);
    models.model_hashes.push_back(hash);
  }
  return models;
}

ModelRollouts RollOut(const StageContext& context, const LogSource& log, const FittedModels& models,
                      const PolicySource& policy_source) {
  const RolloutOptions& options = context.config.rollout;
  const std::int64_t horizon = context.config.value.horizon;
  const EnvSpec& spec = context.task.spec;
  std::vector<std::string> inputs = models.hashes;
  inputs.insert(inputs.end(), {log.hash, policy_source.hash});
  const Stage stage{
      .name = "rollouts",
      .config = spec.name + CanonicalText(options) +
                fmt::format(" T={} reward={} termination={} low={} high={}", horizon,
                            EnumName(context.config.task.reward),
                            EnumName(context.config.task.termination),
                            fmt::join(spec.action_low, ","), fmt::join(spec.action_high, ",")),
      .inputs = std::move(inputs),
      .seed = context.config.seed};
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    const std::int64_t count = options.repetitions * options.episodes;
    TerminalProgress progress("roll out " + policy_source.label, count, "episodes",
                              context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(policy_source.path);
    const std::unique_ptr<TaskRules> functions = FunctionsFor(context, models);
    const MatrixF starts = options.start == RolloutStart::kLog
                               ? StartStatesFromLog(log.log, count, context.config.seed)
                               : StartStatesFromEnv(*context.task.env, count, context.config.seed);
    const ClampRange range = RangeOfLog(log.log, options.clamp_margin);
    std::vector<const TransitionRatio*> ratios;
    for (const RatioClassifier& classifier : models.classifiers) ratios.push_back(&classifier);
    const RolloutInputs rollout{.dynamics = models.dynamics,
                                .ratios = ratios,
                                .policy = *policy,
                                .spec = spec,
                                .functions = *functions,
                                .start_states = starts,
                                .range = range};
    RollOutInModel(rollout, options, horizon, context.config.seed, &progress)
        .Save(directory + "/rollouts.npz");
  });
  return ModelRollouts::Load(artifact.File("rollouts.npz"));
}

}  // namespace lfiw::experiments
