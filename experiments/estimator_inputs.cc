#include "experiments/estimator_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/config.h"
#include "core/error.h"
#include "core/npz.h"
#include "experiments/stage_files.h"
#include "ope/action_ratios.h"
#include "policies/logged_density.h"
#include "policies/policy_file.h"

namespace lfiw {
namespace {

std::string TaskText(const StageContext& context) {
  const EnvSpec& spec = context.task.spec;
  return fmt::format(" {} T={} discount={} reward={} termination={} low={} high={}", spec.name,
                     context.config.value.horizon, context.config.value.discount,
                     EnumName(context.config.task.reward),
                     EnumName(context.config.task.termination), fmt::join(spec.action_low, ","),
                     fmt::join(spec.action_high, ","));
}

FitRun RunIn(const StageContext& context, const std::string& directory, Progress& progress) {
  return {CheckpointFolder(directory), context.config.checkpoint_seconds, &progress};
}

ModelValues ModelValueStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes) {
  const StageContext& context = in.context;
  const ModelValueOptions& options = in.options.model;
  const std::int64_t horizon = context.config.value.horizon;
  std::vector<std::string> inputs = in.models->model_hashes;
  inputs.insert(inputs.end(), {in.log.hash, in.policy.hash});
  const Stage stage{.name = "model_values",
                    .config = CanonicalText(options) + CanonicalText(context.config.rollout) +
                              TaskText(context) + fmt::format(" {}", fmt::join(episodes, ",")),
                    .inputs = std::move(inputs),
                    .seed = context.config.seed};
  const Artefact artefact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("fit values of " + in.policy.label, ModelValueWork(options, horizon),
                              "steps", context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
    const std::unique_ptr<TransitionFunctions> functions = FunctionsFor(context, *in.models);
    const ClampRange range = RangeOfLog(in.log.log, context.config.rollout.clamp_margin);
    const MatrixF no_starts;
    const RolloutInputs rollout{.dynamics = in.models->dynamics,
                                .ratios = {},
                                .policy = *policy,
                                .spec = context.task.spec,
                                .functions = *functions,
                                .start_states = no_starts,
                                .range = range};
    FitModelValues(rollout, in.log.log, episodes, horizon, context.config.value.discount, options,
                   context.config.seed, RunIn(context, directory, progress))
        .Save(directory + "/values.npz");
  });
  return ModelValues::Load(artefact.File("values.npz"));
}

void PutArray(const char* name, const Array<double, 2>& array, NpzFile& file) {
  file.Put(name, std::vector<double>(array.flat().begin(), array.flat().end()));
}

Array<double, 2> GetArray(const char* name, std::int64_t rows, std::int64_t columns,
                          const NpzFile& file, const std::string& path) {
  Array<double, 2> array({rows, columns});
  const std::vector<double> values = file.GetDoubles(name);
  if (std::ssize(values) != array.size()) {
    Throw<DataError>("{}: {} has {} values, expected {}", path, name, values.size(), array.size());
  }
  std::ranges::copy(values, array.flat().begin());
  return array;
}

ValueArrays FqeStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes) {
  const StageContext& context = in.context;
  const FqeOptions& options = in.options.fqe;
  const Estimand estimand = EstimandOf(context.config.value);
  const Stage stage{.name = "fqe",
                    .config = CanonicalText(options) + TaskText(context) +
                              fmt::format(" {}", fmt::join(episodes, ",")),
                    .inputs = {in.log.hash, in.policy.hash},
                    .seed = context.config.seed};
  const Artefact artefact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("fit Q of " + in.policy.label, options.members * options.fit.steps,
                              "gradient steps", context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
    const FqeFit fit = FitFqe(in.log.log, *policy, context.task.spec, estimand, options,
                              context.config.seed, RunIn(context, directory, progress));
    const ValueArrays values =
        FqeValues(fit, in.log.log, episodes, *policy, context.task.spec, estimand,
                  context.config.value.horizon, options, context.config.seed);
    NpzFile file;
    PutArray("q", values.q, file);
    PutArray("v", values.v, file);
    file.Put("residual", std::vector<double>{fit.residual});
    file.Write(directory + "/values.npz");
  });
  const std::string path = artefact.File("values.npz");
  const NpzFile file = NpzFile::Read(path);
  const std::int64_t n = std::ssize(episodes), horizon = context.config.value.horizon;
  return {GetArray("q", n, horizon, file, path), GetArray("v", n, horizon + 1, file, path), {}};
}

// Behavior log-densities of the log's actions; empty with `why` filled where there are none.
std::vector<double> BehaviorDensity(const EstimatorSources& in, std::string& why) {
  if (!in.log.log.behavior_log_density.empty()) return in.log.log.behavior_log_density;
  if (!in.behavior) {
    why = "the log has no behavior densities and the policy that wrote it is not known";
    return {};
  }
  const std::unique_ptr<Policy> behavior = LoadPolicy(in.behavior->path);
  if (!behavior->has_density()) {
    why = "the behavior policy has no density: " + behavior->DensityRefusal();
    return {};
  }
  return LoggedDensity(in.log.log, *behavior, in.context.task.spec);
}

void AddActionRatios(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                     EstimatorInputs& out) {
  const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
  if (!policy->has_density()) {
    out.missing["action"] = "the evaluation policy has no density: " + policy->DensityRefusal() +
                            "; use fqe, model or lfiw";
    return;
  }
  std::string why;
  const std::vector<double> behavior = BehaviorDensity(in, why);
  if (!why.empty()) {
    out.missing["action"] = why;
    return;
  }
  const ActionKind kind =
      policy->discrete_actions() > 0 ? ActionKind::kDiscrete : ActionKind::kContinuous;
  out.log_ratios["action"] = ActionLogRatios(
      in.log.log, episodes, LoggedDensity(in.log.log, *policy, in.context.task.spec), behavior,
      kind, in.context.config.value.horizon,
      in.context.config.log.file.empty() ? "log" : in.context.config.log.file);
}

void AddModelValues(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                    EstimatorInputs& out) {
  if (in.models == nullptr) {
    out.missing["model"] = out.missing["model_visitation"] = "no dynamics model was fitted";
    return;
  }
  ModelValues values = ModelValueStage(in, episodes);
  out.values["model"] = std::move(values.values);
  out.log_ratios["model_visitation"] = std::move(values.state_log_ratios);
  out.model_alive = std::move(values.alive);
}

void AddRollouts(const EstimatorSources& in, EstimatorInputs& out) {
  if (in.models == nullptr) {
    out.missing["rollouts"] = "no dynamics model was fitted";
    return;
  }
  ModelRollouts rollouts = RollOut(in.context, in.log, *in.models, in.policy);
  out.model_rewards = std::move(rollouts.rewards);
  out.model_log_weights = std::move(rollouts.log_weights);
}

void AddOutcomes(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                 EstimatorInputs& out) {
  const EpisodeBatch& log = in.log.log;
  const std::int64_t horizon = in.context.config.value.horizon;
  out.rewards = Array<double, 2>({std::ssize(episodes), horizon});
  for (std::int64_t i = 0; i < std::ssize(episodes); ++i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    const auto index = static_cast<std::size_t>(e);
    const std::int64_t steps = std::min(log.Length(e), horizon);
    std::copy_n(log.rewards.begin() + log.offsets[index], steps, out.rewards.Row(i).begin());
    out.lengths.push_back(steps);
    out.terminated.push_back(steps == log.Length(e) ? log.terminated[index] : 0);
  }
}

}  // namespace

Estimand EstimandOf(const EstimandOptions& options) {
  Estimand estimand;
  static_cast<ValueOptions&>(estimand) = options;
  estimand.horizon = options.horizon;
  return estimand;
}

std::vector<std::int64_t> CorrectionEpisodes(const EstimatorSources& sources) {
  std::vector<std::int64_t> episodes = sources.split.classifiers;
  std::ranges::sort(episodes);
  episodes.erase(std::unique(episodes.begin(), episodes.end()), episodes.end());
  std::erase_if(episodes, [&](std::int64_t e) { return sources.log.log.Length(e) == 0; });
  return episodes;
}

EstimatorInputs MakeEstimatorInputs(const EstimatorSources& sources,
                                    const std::vector<std::int64_t>& episodes,
                                    const std::set<std::string>& needs) {
  EstimatorInputs out;
  AddOutcomes(sources, episodes, out);
  if (needs.contains("action")) AddActionRatios(sources, episodes, out);
  if (needs.contains("model") || needs.contains("model_visitation")) {
    AddModelValues(sources, episodes, out);
  }
  if (needs.contains("fqe")) out.values["fqe"] = FqeStage(sources, episodes);
  if (needs.contains("rollouts")) AddRollouts(sources, out);
  return out;
}

}  // namespace lfiw
