#include "experiments/evaluation/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "core/config/config.h"
#include "core/error.h"
#include "core/logs/log_reader.h"
#include "core/logs/log_writer.h"
#include "core/parallel.h"
#include "core/run/atomic_file.h"
#include "core/run/sha256.h"
#include "core/statistics.h"
#include "experiments/presentation/stage_files.h"
#include "models/episode_split.h"
#include "models/transition_view.h"
#include "policies/files/policy_file.h"
#include "policies/log_compatibility.h"
#include "policies/policy_check.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

PolicySource SourceOf(const std::string& path, const std::string& label) {
  return {path, Sha256HexOfFile(path), label};
}

std::string SnapshotName(std::int64_t steps) { return fmt::format("policy_{}.npz", steps); }

// One PPO run as a stage; returns its folder.
Artifact TrainStage(const StageContext& context, PpoOptions options, std::uint64_t seed,
                    const std::string& title) {
  const Stage stage{.name = "policy",
                    .config = context.task.spec.name + CanonicalText(options),
                    .inputs = {},
                    .seed = seed};
  return context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress(title, options.total_steps, "steps", context.verbosity);
    const PpoRun run{.checkpoint = CheckpointFolder(directory) + "/ppo.npz",
                     .checkpoint_seconds = context.config.checkpoint_seconds,
                     .progress = &progress};
    SavePpoResult(TrainPpo(*context.task.env, options, seed, run), directory);
  });
}

json CurveOf(const Artifact& run, const std::string& label) {
  json curve = ReadJson(run.File("curve.json"));
  curve["label"] = label;
  return curve;
}

PolicySet TrainSnapshots(const StageContext& context) {
  const PolicyPairOptions& pair = context.config.policies;
  PpoOptions options;
  static_cast<PpoHyperparameters&>(options) = pair.ppo;
  options.total_steps = pair.evaluation_steps;
  options.snapshots = {pair.behavior_steps};
  const Artifact run = TrainStage(context, options, pair.seed, "train policies (PPO)");
  PolicySet set{SourceOf(run.File(SnapshotName(pair.behavior_steps)), "behavior"),
                {SourceOf(run.File("policy.npz"), "evaluation")}};
  set.training.push_back(CurveOf(run, fmt::format("seed {}", pair.seed)));
  return set;
}

PolicySet TrainIndependent(const StageContext& context) {
  const PolicyPairOptions& pair = context.config.policies;
  const auto train = [&](std::int64_t which) {
    PpoOptions options;
    static_cast<PpoHyperparameters&>(options) = pair.ppo;
    options.total_steps = which == 0 ? pair.behavior_steps : pair.evaluation_steps;
    return TrainStage(context, options, pair.seed + (which == 0 ? 1 : 0),
                      which == 0 ? "train behavior policy (PPO)" : "train evaluation policy (PPO)");
  };
  std::array<Artifact, 2> runs;
  ParallelFor(2, [&](std::int64_t i) { runs[static_cast<std::size_t>(i)] = train(i); });
  PolicySet set{SourceOf(runs[0].File("policy.npz"), "behavior"),
                {SourceOf(runs[1].File("policy.npz"), "evaluation")}};
  set.training = {CurveOf(runs[0], "behavior"), CurveOf(runs[1], "evaluation")};
  return set;
}

// File names without what they share would be shorter but less recognizable: the stem, numbered
// where several files have the same.
std::vector<std::string> LabelsOf(const std::vector<std::string>& paths) {
  std::vector<std::string> labels;
  std::set<std::string> taken;
  for (const std::string& path : paths) {
    const std::string stem = std::filesystem::path(path).stem().string();
    std::string label = stem;
    for (int i = 2; !taken.insert(label).second; ++i) label = fmt::format("{}_{}", stem, i);
    labels.push_back(label);
  }
  return labels;
}

PolicySource GivenPolicy(const Task& task, const std::string& path, const std::string& label) {
  CheckFits(*LoadPolicy(path), task.spec);
  return {path, PolicyHash(path), label};
}

PolicySet GivenPolicies(const StageContext& context) {
  const PolicyPairOptions& options = context.config.policies;
  PolicySet set;
  if (!options.behavior_file.empty()) {
    set.behavior = GivenPolicy(context.task, options.behavior_file, "behavior");
  }
  const std::vector<std::string> labels = LabelsOf(options.evaluation_files);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    set.evaluations.push_back(GivenPolicy(context.task, options.evaluation_files[i], labels[i]));
  }
  return set;
}

VectorD BoundOf(const std::vector<double>& given, const char* name, const VectorD& shown) {
  if (given.empty()) return shown;
  if (std::ssize(given) != shown.size()) {
    Throw<ConfigError>("task.{}: {} values, but the log's actions have {} dimensions", name,
                       given.size(), shown.size());
  }
  return Eigen::Map<const VectorD>(given.data(), shown.size());
}

// The displacement that the reward function needs, from the logged reward: r - R(s, a, s', 0).
// Returns the root mean square difference to the mean observed velocity of each step.
double RecoverAux(const EnvFactory& env, EpisodeBatch& log) {
  std::vector<double> rest(log.rewards.size()), trapezoid(log.rewards.size());
  const auto rules = env.MakeTaskRules(), observed = env.MakeTaskRules(RewardSource::kTrapezoid);
  ForEachBlock(
      TransitionView(log, Indices(log.episodes())), [&](std::int64_t begin, const Transitions& t) {
        const auto first = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(t.size());
        const MatrixF aux = MatrixF::Zero(t.size(), 1);
        rules->Rewards(t.states, t.actions, t.next_states, aux, std::span(rest).subspan(first, n));
        observed->Rewards(t.states, t.actions, t.next_states, aux,
                          std::span(trapezoid).subspan(first, n));
      });
  log.aux.resize(log.steps(), 1);
  std::vector<double> squares;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    log.aux(static_cast<Eigen::Index>(i), 0) = static_cast<float>(log.rewards[i] - rest[i]);
    const double difference = log.rewards[i] - trapezoid[i];
    squares.push_back(difference * difference);
  }
  return std::sqrt(Mean(squares));
}

}  // namespace

std::int64_t LongestEpisode(const EpisodeBatch& log) {
  std::int64_t longest = 0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) longest = std::max(longest, log.Length(e));
  return longest;
}

LogSource ReadLogFile(const LogOptions& options, const std::string& environment,
                      std::uint64_t seed) {
  LogReadOptions read{.map = options.map};
  // forward positions in the file give the displacement that some rewards need
  if (environment != kNoEnvironment && !environment.empty()) {
    const EnvSpec& spec = FindEnv(environment)->spec();
    if (spec.aux_dim() > 0) read.position_step_seconds = spec.step_seconds;
  }
  LoadedLog loaded = LoadLog(options.file, read, options.max_transitions, seed);
  return {.log = std::move(loaded.batch),
          .hash = fmt::format("{} {} {} {}", Sha256HexOfFile(options.file), options.map,
                              read.position_step_seconds, options.max_transitions),
          .environment = std::move(loaded.info.environment),
          .discrete_actions = loaded.info.discrete_actions,
          .notes = std::move(loaded.info.notes)};
}

Task MakeTask(const EvaluationConfig& config, const LogSource* log) {
  if (config.environment != kNoEnvironment) {
    const std::shared_ptr<const EnvFactory> env = FindEnv(config.environment);
    return {env->spec(), env};
  }
  LFIW_ASSERT(log != nullptr);
  const ActionBounds shown = BoundsOfActions(log->log.actions);
  Task task;
  task.spec.name = log->environment.empty() ? "an unknown environment" : log->environment;
  task.spec.obs_dim = log->log.obs_dim();
  task.spec.action_dim = log->log.action_dim();
  for (std::int64_t i = 0; i < log->log.aux_dim(); ++i) {
    task.spec.aux_names.push_back(fmt::format("aux_{}", i));
  }
  task.spec.action_low = BoundOf(config.task.action_low, "action_low", shown.low);
  task.spec.action_high = BoundOf(config.task.action_high, "action_high", shown.high);
  task.spec.max_episode_steps = LongestEpisode(log->log);
  return task;
}

void FitLogToTask(const Task& task, const std::string& path, LogSource& log) {
  CheckFits(log.log, task.spec, path);
  if (task.env == nullptr || task.spec.aux_dim() == 0 || log.log.aux_dim() > 0) return;
  const double rms = RecoverAux(*task.env, log.log);
  log.notes.push_back(fmt::format(
      "the displacement of each step is recovered from the logged rewards; it differs from the "
      "mean observed velocity by {:.3g} (root mean square)",
      rms));
}

PolicySet MakePolicies(const StageContext& context) {
  switch (context.config.policies.pair) {
    case PolicyPair::kSnapshots:
      return TrainSnapshots(context);
    case PolicyPair::kIndependent:
      return TrainIndependent(context);
    case PolicyPair::kFiles:
      break;
  }
  return GivenPolicies(context);
}

void SavePpoResult(const PpoResult& result, const std::string& directory) {
  result.policy.Save(directory + "/policy.npz");
  for (const PpoSnapshot& snapshot : result.snapshots) {
    snapshot.policy.Save(directory + "/" + SnapshotName(snapshot.steps));
  }
  json curve = {{"steps", json::array()}, {"return", json::array()}};
  std::string csv =
      "steps,mean_return,mean_length,policy_loss,value_loss,entropy,approx_kl,clip_fraction\n";
  for (const PpoPoint& point : result.history) {
    curve["steps"].push_back(point.steps);
    curve["return"].push_back(point.mean_return);
    csv += fmt::format("{},{},{},{},{},{},{},{}\n", point.steps, point.mean_return,
                       point.mean_length, point.policy_loss, point.value_loss, point.entropy,
                       point.approx_kl, point.clip_fraction);
  }
  WriteJson(curve, directory + "/curve.json");
  WriteFileAtomically(directory + "/curve.csv", csv);
}

PolicySource FindBehavior(const StageContext& context, const LogSource& log) {
  const std::string& file = context.config.log.file;
  try {
    return GivenPolicy(context.task, file, "behavior (in the log's file)");
  } catch (const PolicyError&) {
    // there is none in it
  }
  CloningOptions options = context.config.back_test.cloning;
  if (log.discrete_actions > 0) options.kind = CloneKind::kCategorical;
  const ActionBounds bounds{context.task.spec.action_low, context.task.spec.action_high};
  const Stage stage{
      .name = "behavior_clone",
      .config = CanonicalText(options) +
                fmt::format(" {} {}", fmt::join(bounds.low, ","), fmt::join(bounds.high, ",")),
      .inputs = {log.hash},
      .seed = context.config.seed};
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("clone the logged policy", options.fit.steps, "gradient steps",
                              context.verbosity);
    const FitRun run{CheckpointFolder(directory), context.config.checkpoint_seconds, &progress};
    const BehaviorClone clone = CloneBehavior(log.log, bounds, options, context.config.seed, run);
    SaveNetworkPolicy(*clone.policy, directory + "/clone.npz");
    WriteJson({{"held_out_log_likelihood", clone.summary.held_out_log_likelihood}},
              directory + "/summary.json");
  });
  return SourceOf(artifact.File("clone.npz"), "behavior (cloned)");
}

LogSource CollectLog(const StageContext& context, const PolicySource& behavior) {
  const std::int64_t episodes = context.config.log.episodes;
  const std::int64_t horizon = context.config.value.horizon;
  const Stage stage{
      .name = "log",
      .config = fmt::format("{} episodes={} T={}", context.task.spec.name, episodes, horizon),
      .inputs = {behavior.hash},
      .seed = context.config.seed};
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("collect the log", episodes, "episodes", context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(behavior.path);
    const EpisodeRequest request{.episodes = episodes,
                                 .horizon = horizon,
                                 .seed = context.config.seed,
                                 .purpose = "log",
                                 .progress = &progress};
    SaveLog(CollectEpisodes(*context.task.env, *policy, request), directory + "/log.npz");
  });
  const std::string path = artifact.File("log.npz");
  return {.log = LoadLog(path).batch, .hash = Sha256HexOfFile(path)};
}

MonteCarloEstimate MakeTruth(const StageContext& context, const PolicySource& evaluation) {
  const EvaluationConfig& config = context.config;
  const Stage stage{
      .name = "truth",
      .config = fmt::format("{} episodes={} T={} discount={}", context.task.spec.name,
                            config.truth.episodes, config.value.horizon, config.value.discount),
      .inputs = {evaluation.hash},
      .seed = config.seed};
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("truth (real environment)", config.truth.episodes, "episodes",
                              context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(evaluation.path);
    const EpisodeRequest request{.episodes = config.truth.episodes,
                                 .horizon = config.value.horizon,
                                 .seed = config.seed,
                                 .purpose = "truth",
                                 .progress = &progress};
    const MonteCarloEstimate truth =
        MonteCarloValue(*context.task.env, *policy, request, config.value.discount);
    WriteJson({{"value", truth.value},
               {"standard_error", truth.standard_error},
               {"episodes", truth.episodes},
               {"mean_length", truth.mean_length}},
              directory + "/truth.json");
  });
  const json truth = ReadJson(artifact.File("truth.json"));
  const double scale = StepFactors(config.value, config.value.horizon).front();
  return {truth["value"].get<double>() * scale, truth["standard_error"].get<double>() * scale,
          truth["episodes"], truth["mean_length"]};
}

}  // namespace lfiw::experiments
