#include "experiments/mbope_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/atomic_file.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log_reader.h"
#include "core/log_writer.h"
#include "core/npz.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/sha256.h"
#include "models/classifier_fit.h"
#include "models/dynamics_checks.h"
#include "models/dynamics_fit.h"
#include "policies/log_fit.h"

namespace lfiw {
namespace {

using nlohmann::json;

json HistoryJson(const FitHistory& history) {
  return {{"step", history.steps},
          {"train", history.train_loss},
          {"validation", history.validation_loss}};
}

json ReadJson(const std::string& path) { return json::parse(ReadFile(path)); }

void WriteJson(const json& value, const std::string& path) {
  WriteFileAtomically(path, value.dump(1) + "\n");
}

PolicySource SourceOf(const std::string& path) { return {path, Sha256HexOfFile(path)}; }

std::string SnapshotName(std::int64_t steps) { return fmt::format("policy_{}.npz", steps); }

std::string CheckpointFolder(const std::string& directory) {
  return directory + "/" + StageCache::kCheckpointFolder;
}

// One PPO run as a stage; returns its folder.
Artefact TrainStage(const StageContext& context, PpoOptions options, std::uint64_t seed,
                    const std::string& title) {
  const Stage stage{.name = "policy",
                    .config = context.env.spec().name + CanonicalText(options),
                    .inputs = {},
                    .seed = seed};
  return context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress(title, options.total_steps, "steps", context.verbosity);
    const PpoRun run{.checkpoint = CheckpointFolder(directory) + "/ppo.npz", .progress = &progress};
    SavePpoResult(TrainPpo(context.env, options, seed, run), directory);
  });
}

json CurveOf(const Artefact& run, const std::string& label) {
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
  const Artefact run = TrainStage(context, options, pair.seed, "train policies (PPO)");
  PolicySet set{SourceOf(run.File(SnapshotName(pair.behavior_steps))),
                SourceOf(run.File("policy.npz"))};
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
  std::array<Artefact, 2> runs;
  ParallelFor(2, [&](std::int64_t i) { runs[static_cast<std::size_t>(i)] = train(i); });
  PolicySet set{SourceOf(runs[0].directory + "/policy.npz"),
                SourceOf(runs[1].directory + "/policy.npz")};
  set.training = {CurveOf(runs[0], "behavior"), CurveOf(runs[1], "evaluation")};
  return set;
}

// The cross-fitting folds, for the key of a stage; nothing without them.
std::string FoldsText(const LogSplit& split) {
  std::string text;
  for (const auto& skipped : split.skipped) text += fmt::format(";{}", fmt::join(skipped, ","));
  return text;
}

// The dynamics of one fit, as a stage.
Artefact DynamicsStage(const StageContext& context, const LogSource& log, const LogSplit& split) {
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
                                        CheckpointFolder(directory), &progress, split.skipped);
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
json DynamicsReport(const StageContext& context, const LogSource& log, const Artefact& dynamics,
                    const DynamicsEnsemble& ensemble, const std::vector<std::int64_t>& episodes) {
  const Stage stage{.name = "dynamics_report",
                    .config = fmt::format("{}", fmt::join(episodes, ",")),
                    .inputs = {log.hash, dynamics.content_hash},
                    .seed = 0};
  const Artefact artefact = context.cache.Run(stage, [&](const std::string& directory) {
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
  return ReadJson(artefact.File("report.json"));
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
  Transitions fake = real;
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
std::vector<Artefact> ClassifierStages(const StageContext& context, const LogSource& log,
                                       const Artefact& dynamics, const DynamicsEnsemble& ensemble,
                                       const std::vector<std::int64_t>& episodes,
                                       std::int64_t count) {
  const ClassifierOptions& options = context.config.classifiers.fit;
  const std::uint64_t seed = context.config.seed;
  TerminalProgress progress("fit classifiers", count * options.fit.steps, "gradient steps",
                            context.verbosity);
  std::vector<Artefact> artefacts(static_cast<std::size_t>(count));
  ParallelFor(count, [&](std::int64_t c) {
    const auto index = static_cast<std::uint64_t>(c);
    const Stage stage{
        .name = "classifier",
        .config = CanonicalText(options) + fmt::format("{}:{}", c, fmt::join(episodes, ",")),
        .inputs = {log.hash, dynamics.content_hash},
        .seed = seed};
    artefacts[static_cast<std::size_t>(c)] =
        context.cache.Run(stage, [&](const std::string& directory) {
          const Bootstrap bootstrap = DrawBootstrap(episodes, seed, index);
          const ClassifierFit fit = FitClassifier(log.log, bootstrap.drawn, ensemble, options, seed,
                                                  c, CheckpointFolder(directory), &progress);
          fit.classifier.Save(directory + "/classifier.npz");
          WriteJson(HistoryJson(fit.summary.fit.history), directory + "/history.json");
          SaveHeldOut(fit.classifier, ensemble, log.log, bootstrap.left_out, seed, index,
                      directory + "/held_out.npz");
        });
  });
  return artefacts;
}

void Append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

ModelRollouts RolloutStage(const StageContext& context, const LogSource& log,
                           const PolicySource& evaluation, const FittedModels& models,
                           std::vector<std::string> inputs) {
  const RolloutOptions& options = context.config.rollout;
  const std::int64_t horizon = context.config.value.horizon;
  inputs.insert(inputs.end(), {log.hash, evaluation.hash});
  const Stage stage{
      .name = "rollouts",
      .config = context.env.spec().name + CanonicalText(options) + fmt::format(" T={}", horizon),
      .inputs = std::move(inputs),
      .seed = context.config.seed};
  const Artefact artefact = context.cache.Run(stage, [&](const std::string& directory) {
    const std::int64_t count = options.repetitions * options.episodes;
    TerminalProgress progress("roll out in the model", count, "episodes", context.verbosity);
    const GaussianMlpPolicy policy = GaussianMlpPolicy::Load(evaluation.path);
    const std::unique_ptr<TransitionFunctions> functions =
        context.env.MakeTransitionFunctions(options.reward);
    const MatrixF starts = options.start == RolloutStart::kLog
                               ? StartStatesFromLog(log.log, count, context.config.seed)
                               : StartStatesFromEnv(context.env, count, context.config.seed);
    const ClampRange range = RangeOfLog(log.log, options.clamp_margin);
    std::vector<const TransitionRatio*> ratios;
    for (const RatioClassifier& classifier : models.classifiers) ratios.push_back(&classifier);
    const RolloutInputs rollout{.dynamics = models.dynamics,
                                .ratios = ratios,
                                .policy = policy,
                                .spec = context.env.spec(),
                                .functions = *functions,
                                .start_states = starts,
                                .range = range};
    RollOutInModel(rollout, options, horizon, context.config.seed, &progress)
        .Save(directory + "/rollouts.npz");
  });
  return ModelRollouts::Load(artefact.File("rollouts.npz"));
}

}  // namespace

PolicySet MakePolicies(const StageContext& context) {
  const PolicyPairOptions& pair = context.config.policies;
  switch (pair.pair) {
    case PolicyPair::kSnapshots:
      return TrainSnapshots(context);
    case PolicyPair::kIndependent:
      return TrainIndependent(context);
    case PolicyPair::kFiles:
      break;
  }
  for (const std::string& path : {pair.behavior_file, pair.evaluation_file}) {
    CheckFits(GaussianMlpPolicy::Load(path), context.env.spec());
  }
  return {SourceOf(pair.behavior_file), SourceOf(pair.evaluation_file)};
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

LogSource OpenLog(const StageContext& context, const std::string& path) {
  LogSource source{LoadLog(path).batch, Sha256HexOfFile(path)};
  CheckFits(source.log, context.env.spec(), path);
  return source;
}

LogSource CollectLog(const StageContext& context, const PolicySource& behavior) {
  const std::int64_t episodes = context.config.log.episodes;
  const std::int64_t horizon = context.config.value.horizon;
  const Stage stage{
      .name = "log",
      .config = fmt::format("{} episodes={} T={}", context.env.spec().name, episodes, horizon),
      .inputs = {behavior.hash},
      .seed = context.config.seed};
  const Artefact artefact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("collect the log", episodes, "episodes", context.verbosity);
    const GaussianMlpPolicy policy = GaussianMlpPolicy::Load(behavior.path);
    const EpisodeRequest request{.episodes = episodes,
                                 .horizon = horizon,
                                 .seed = context.config.seed,
                                 .purpose = "log",
                                 .progress = &progress};
    SaveLog(CollectEpisodes(context.env, policy, request), directory + "/log.npz");
  });
  return OpenLog(context, artefact.File("log.npz"));
}

MonteCarloEstimate MakeTruth(const StageContext& context, const PolicySource& evaluation) {
  const MbopeConfig& config = context.config;
  const Stage stage{
      .name = "truth",
      .config = fmt::format("{} episodes={} T={} discount={}", context.env.spec().name,
                            config.truth.episodes, config.value.horizon, config.value.discount),
      .inputs = {evaluation.hash},
      .seed = config.seed};
  const Artefact artefact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("truth (real environment)", config.truth.episodes, "episodes",
                              context.verbosity);
    const GaussianMlpPolicy policy = GaussianMlpPolicy::Load(evaluation.path);
    const EpisodeRequest request{.episodes = config.truth.episodes,
                                 .horizon = config.value.horizon,
                                 .seed = config.seed,
                                 .purpose = "truth",
                                 .progress = &progress};
    const MonteCarloEstimate truth =
        MonteCarloValue(context.env, policy, request, config.value.discount);
    WriteJson({{"value", truth.value},
               {"standard_error", truth.standard_error},
               {"episodes", truth.episodes},
               {"mean_length", truth.mean_length}},
              directory + "/truth.json");
  });
  const json truth = ReadJson(artefact.File("truth.json"));
  const double scale = StepFactors(config.value, config.value.horizon).front();
  return {truth["value"].get<double>() * scale, truth["standard_error"].get<double>() * scale,
          truth["episodes"], truth["mean_length"]};
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

FittedModels FitModels(const StageContext& context, const LogSource& log,
                       const PolicySource& evaluation, const LogSplit& split,
                       std::int64_t classifiers) {
  const Artefact dynamics = DynamicsStage(context, log, split);
  FittedModels models(DynamicsEnsemble::Load(dynamics.File("dynamics.npz")));
  models.dynamics_report =
      DynamicsReport(context, log, dynamics, models.dynamics, split.classifiers);

  std::vector<std::string> hashes = {dynamics.content_hash};
  const std::vector<Artefact> artefacts =
      ClassifierStages(context, log, dynamics, models.dynamics, split.classifiers, classifiers);
  models.classifier_history = json::array();
  for (std::size_t c = 0; c < artefacts.size(); ++c) {
    const std::string& directory = artefacts[c].directory;
    models.classifiers.push_back(RatioClassifier::Load(directory + "/classifier.npz"));
    json history = ReadJson(directory + "/history.json");
    history["index"] = c;
    models.classifier_history.push_back(std::move(history));
    const NpzFile held_out = NpzFile::Read(directory + "/held_out.npz");
    Append(models.held_out_real, held_out.GetDoubles("real"));
    Append(models.held_out_generated, held_out.GetDoubles("generated"));
    hashes.push_back(artefacts[c].content_hash);
  }
  models.rollouts = RolloutStage(context, log, evaluation, models, std::move(hashes));
  return models;
}

}  // namespace lfiw
