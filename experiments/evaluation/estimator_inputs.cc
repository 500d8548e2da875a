#include "experiments/evaluation/estimator_inputs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/run/shared_loop.h"
#include "experiments/evaluation/family_stage.h"
#include "experiments/evaluation/fit_stage.h"
#include "experiments/evaluation/rollout_stage.h"
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
  const Policy& behavior = *in.behavior->policy;
  if (!behavior.has_density()) {
    why = "the behavior policy has no density: " + behavior.DensityRefusal();
    return {};
  }
  return LoggedDensity(in.log.log, behavior, in.context.task.spec);
}

// Log-densities of the logged actions under both policies; none with `why` filled where a policy
// has none.
std::optional<ActionDensities> DensitiesOf(const EstimatorSources& in, std::string& why) {
  const Policy& policy = *in.policy.policy;
  if (!policy.has_density()) {
    why = "the evaluation policy has no density: " + policy.DensityRefusal() +
          "; use fqe, model or lfiw";
    return {};
  }
  std::vector<double> behavior = BehaviorDensity(in, why);
  if (!why.empty()) return {};
  const std::string& file = in.context.config.log.file;
  return ActionDensities{
      .evaluation = LoggedDensity(in.log.log, policy, in.context.task.spec),
      .behavior = std::move(behavior),
      .kind = policy.discrete_actions() > 0 ? ActionKind::kDiscrete : ActionKind::kContinuous,
      .source = file.empty() ? "log" : file};
}

void AddOutcomes(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                 EstimatorInputs& out) {
  const EpisodeBatch& log = in.log.log;
  const std::int64_t horizon = in.context.config.value.horizon;
  out.rewards = Array<double, 2>({std::ssize(episodes), horizon});
  for (std::int64_t i = 0; i < std::ssize(episodes); ++i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    const auto index = static_cast<std::size_t>(e);
    const std::int64_t steps = log.UsableSteps(e, horizon);
    std::copy_n(log.rewards.begin() + log.offsets[index], steps, out.rewards.Row(i).begin());
    out.lengths.push_back(steps);
    out.terminated.push_back(steps == log.Length(e) ? log.terminated[index] : 0);
  }
}

// Runs fits on a log; what several of them read is made once.
class LogFitter {
 public:
  LogFitter(const EstimatorSources& in, const std::vector<std::int64_t>& episodes)
      : in_(in), episodes_(episodes) {}

  // Makes a fit that the cache keeps.
  void Prepare(const FitMethod& fit) {
    if (!WhyNot(fit).empty()) return;
    in_.context.cache.Prepare<FitStage>(KeyOf(fit), InputsOf(fit), in_.context.Work());
  }

  // None for fits that are not made from logs.
  std::optional<FitOutcome> Run(const FitMethod& fit) {
    if (!fit.on_log) return {};
    if (std::string why = WhyNot(fit); !why.empty()) return FitOutcome{NotFitted(fit, why), 0.0};
    StageCache& cache = in_.context.cache;
    const std::size_t before = cache.records().size();
    FitOutcome outcome = Timed([&] { return Arrays(fit); });
    // what the cache keeps took the time of the try that made it
    if (cache.records().size() > before) outcome.seconds = ComputedSeconds(cache, before);
    return outcome;
  }

 private:
  FittedArrays Family() const {
    FittedArrays out;
    if (!in_.behavior) {
      out.missing["family"] = "the policy that wrote the log is not known";
      return out;
    }
    if (in_.models->dynamics.members() < 2) {
      out.missing["family"] = "a model of one member is no family";
      return out;
    }
    const std::array values = {ValuesInFamily(in_.context, in_.log, *in_.models, *in_.behavior),
                               ValuesInFamily(in_.context, in_.log, *in_.models, in_.policy)};
    const auto& shape = values[0].values.shape();
    out.model_family = Array<double, 3>({2, shape[0], shape[1]});
    for (std::int64_t p = 0; p < 2; ++p) {
      const FamilyValues& of_policy = values[static_cast<std::size_t>(p)];
      for (std::int64_t s = 0; s < shape[0]; ++s) {
        std::ranges::copy(of_policy.values.Row(s), out.model_family.Row(p, s).begin());
      }
      out.model_family_errors.push_back(of_policy.standard_error);
    }
    return out;
  }

  // The policy that wrote the log itself, no imitation of it; null where it is not known.
  const PolicySource* KnownBehavior() const {
    return in_.behavior && !in_.behavior->cloned ? &*in_.behavior : nullptr;
  }

  // Why the fit cannot run; empty if it can.
  std::string WhyNot(const FitMethod& fit) {
    if (fit.Reads(FitReads::kDynamics) && in_.models == nullptr) {
      return "no dynamics model was fitted";
    }
    if (!fit.Reads(FitReads::kActionDensities)) return "";
    if (!densities_ && why_no_densities_.empty()) {
      densities_ = DensitiesOf(in_, why_no_densities_);
    }
    return why_no_densities_;
  }

  FitStage::Key KeyOf(const FitMethod& fit) const {
    const EvaluationConfig& config = in_.context.config;
    const bool dynamics = fit.Reads(FitReads::kDynamics);
    return {.options = fit.options,
            .task = TaskKeyOf(in_.context),
            .value = config.value,
            .rollout = dynamics ? std::optional(config.rollout) : std::nullopt,
            .episodes = episodes_,
            .seed = config.seed};
  }

  FitStage::Inputs InputsOf(const FitMethod& fit) const {
    return {.fit = fit,
            .stage = "fit_" + fit.name,
            .task = in_.context.task,
            .log = in_.log,
            .policy = in_.policy,
            .models = in_.models,
            .densities = densities_ ? &*densities_ : nullptr,
            .behavior = KnownBehavior()};
  }

  FittedArrays Arrays(const FitMethod& fit) const {
    const FitStage::Key key = KeyOf(fit);
    const FitStage::Inputs inputs = InputsOf(fit);
    if (fit.storage == FitStorage::kKept) {
      return FitStage::Read(in_.context.cache.Run<FitStage>(key, inputs, in_.context.Work()));
    }
    return RunFit(
        key, inputs, {},
        {.roll_out = [&] { return RollOut(in_.context, in_.log, *in_.models, in_.policy); },
         .family = [&] { return Family(); }});
  }

  const EstimatorSources& in_;
  const std::vector<std::int64_t>& episodes_;
  std::optional<ActionDensities> densities_;
  std::string why_no_densities_;
};

}  // namespace

std::vector<std::int64_t> CorrectionEpisodes(const EstimatorSources& sources) {
  std::vector<std::int64_t> episodes = sources.split.classifiers;
  std::ranges::sort(episodes);
  episodes.erase(std::unique(episodes.begin(), episodes.end()), episodes.end());
  const std::int64_t horizon = sources.context.config.value.horizon;
  std::erase_if(episodes,
                [&](std::int64_t e) { return sources.log.log.UsableSteps(e, horizon) == 0; });
  return episodes;
}

bool NeedDynamics(const FitRegistry& fits, const std::set<std::string>& needs) {
  const std::set<std::string> all = fits.WithNeedsOfFits(needs);
  return std::ranges::any_of(fits.all(), [&](const FitMethod& fit) {
    return fit.Reads(FitReads::kDynamics) && fit.Serves(all);
  });
}

FittedInputs MakeEstimatorInputs(const EstimatorSources& sources,
                                 const std::vector<std::int64_t>& episodes,
                                 const std::set<std::string>& needs) {
  FittedInputs out;
  AddOutcomes(sources, episodes, out.arrays);
  LogFitter fitter(sources, episodes);
  AddFits(
      sources.fits, needs, EstimandOf(sources.context.config.value),
      [&](const FitMethod& fit) { return fitter.Run(fit); }, out);
  return out;
}

void PrepareFits(const EstimatorSources& sources, const std::vector<std::int64_t>& episodes,
                 const std::set<std::string>& needs) {
  const std::set<std::string> all = sources.fits.WithNeedsOfFits(needs);
  std::vector<const FitMethod*> kept;
  for (const FitMethod& fit : sources.fits.all()) {
    const bool on_log = fit.on_log && !fit.on_arrays && fit.storage == FitStorage::kKept;
    if (on_log && fit.Serves(all)) kept.push_back(&fit);
  }
  LogFitter fitter(sources, episodes);
  ShareInTurn(sources.context.cache, std::ssize(kept),
              [&](std::int64_t i) { fitter.Prepare(*kept[static_cast<std::size_t>(i)]); });
}

std::optional<double> ComputedSeconds(const StageCache& cache, std::size_t first) {
  const std::vector<StageRecord> records = cache.records();
  double sum = 0.0;
  for (std::size_t k = first; k < records.size(); ++k) {
    if (!records[k].computed_seconds) return {};
    sum += *records[k].computed_seconds;
  }
  return sum;
}

}  // namespace lfiw::experiments
