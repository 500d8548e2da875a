#include "experiments/evaluation/estimator_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "core/config/config.h"
#include "core/error.h"
#include "experiments/evaluation/rollout_stage.h"
#include "ope/estimators/action_ratios.h"
#include "policies/files/policy_file.h"
#include "policies/logged_density.h"

namespace lfiw::experiments {
namespace {

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

// Log-densities of the logged actions, [steps], under both policies.
struct Densities {
  std::vector<double> evaluation, behavior;
  ActionKind kind = ActionKind::kContinuous;
};

// None with `why` filled where a policy has none.
std::optional<Densities> DensitiesOf(const EstimatorSources& in, std::string& why) {
  const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
  if (!policy->has_density()) {
    why = "the evaluation policy has no density: " + policy->DensityRefusal() +
          "; use fqe, model or lfiw";
    return {};
  }
  std::vector<double> behavior = BehaviorDensity(in, why);
  if (!why.empty()) return {};
  return Densities{
      .evaluation = LoggedDensity(in.log.log, *policy, in.context.task.spec),
      .behavior = std::move(behavior),
      .kind = policy->discrete_actions() > 0 ? ActionKind::kDiscrete : ActionKind::kContinuous};
}

Array<double, 2> ActionRatios(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                              const Densities& densities) {
  const std::string& file = in.context.config.log.file;
  return ActionLogRatios(in.log.log, episodes, densities.evaluation, densities.behavior,
                         densities.kind, in.context.config.value.horizon,
                         file.empty() ? "log" : file);
}

// Ratios of the policies, and what is fitted with them.
void AddActionRatios(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                     const std::set<std::string>& needs, EstimatorInputs& out) {
  std::string why;
  const std::optional<Densities> densities = DensitiesOf(in, why);
  if (!densities) {
    out.missing["action"] = out.missing["mrdr"] = why;
    return;
  }
  out.log_ratios["action"] = ActionRatios(in, episodes, *densities);
  if (!needs.contains("mrdr")) return;
  std::vector<std::int64_t> all(static_cast<std::size_t>(in.log.log.episodes()));
  std::iota(all.begin(), all.end(), 0);
  MrdrArrays fitted = MrdrStage(in, episodes, ActionRatios(in, all, *densities));
  out.values["mrdr"] = std::move(fitted.values);
  out.notes["mrdr"] = std::move(fitted.notes);
}

void AddLinear(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
               EstimatorInputs& out) {
  LinearArrays fitted = LinearStage(in, episodes);
  out.values["mql"] = std::move(fitted.values);
  out.weights["mwl"] = std::move(fitted.weights);
  out.notes["mql"] = out.notes["mwl"] = std::move(fitted.notes);
}

void AddLagrangian(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                   const LagrangianOptions& options, const std::string& name,
                   EstimatorInputs& out) {
  RatioArrays fitted = LagrangianStage(in, episodes, options, name);
  out.log_ratios[name] = std::move(fitted.log_ratios);
  out.notes[name] = std::move(fitted.notes);
}

void AddModelValues(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                    EstimatorInputs& out) {
  if (in.models == nullptr) {
    out.missing["model"] = out.missing["model_visitation"] = "no dynamics model was fitted";
    return;
  }
  const std::int64_t folds = in.options.model.folds;
  if (std::ssize(episodes) < 2 * folds) {
    out.missing["model"] = out.missing["model_visitation"] =
        fmt::format("{} logged episodes are too few for values in the model from {} folds",
                    std::ssize(episodes), folds);
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
  const auto any = [&](const char* a, const char* b) {
    return needs.contains(a) || needs.contains(b);
  };
  if (any("action", "mrdr")) AddActionRatios(sources, episodes, needs, out);
  if (any("model", "model_visitation")) AddModelValues(sources, episodes, out);
  if (needs.contains("fqe")) out.values["fqe"] = FqeStage(sources, episodes);
  if (any("mql", "mwl")) AddLinear(sources, episodes, out);
  const EstimatorFitOptions& fits = sources.options;
  for (const auto& [name, options] :
       {std::pair("dual_dice", &fits.dual_dice), std::pair("gen_dice", &fits.gen_dice)}) {
    if (needs.contains(name)) AddLagrangian(sources, episodes, *options, name, out);
  }
  if (needs.contains("rollouts")) AddRollouts(sources, out);
  return out;
}

}  // namespace lfiw::experiments
