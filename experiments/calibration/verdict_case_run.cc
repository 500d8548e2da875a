#include "experiments/calibration/verdict_case_run.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "envs/linear_gaussian_env.h"
#include "experiments/evaluation/fit_models.h"
#include "experiments/evaluation/policy_evaluation.h"
#include "policies/collect.h"
#include "policies/gaussian_mlp_policy.h"

namespace lfiw::experiments {
namespace {

// The policy as a network without hidden layers, in a file as policies of others are.
PolicySource SavePolicy(const LinearGaussianPolicy& policy, const std::string& label,
                        const std::string& folder) {
  const TanhMlp mlp({policy.gain.cols(), policy.gain.rows()});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.SetWeight(policy.gain.transpose().cast<float>(), 0, parameters.data());
  mlp.SetBias(policy.offset.cast<float>(), 0, parameters.data());
  const VectorF log_std = (0.5 * policy.covariance.diagonal().array().log()).cast<float>();
  constexpr double kNoClip = 1e30;
  const std::string path = fmt::format("{}/{}.npz", folder, label);
  GaussianMlpPolicy(mlp, parameters, log_std, ObservationNormalizer(policy.gain.cols(), kNoClip),
                    "linear")
      .Save(path);
  return LoadPolicySource(path, label);
}

// The configuration that `lfiw evaluate` would have.
EvaluationConfig PipelineConfig(const CaseOptions& options, const VerdictCase& c,
                                std::uint64_t seed) {
  EvaluationConfig pipeline = DefaultsOf(Preset::kRobust);
  pipeline.seed = seed;
  pipeline.environment = kLinearGaussianName;
  pipeline.value.horizon = c.horizon;
  pipeline.policies.pair = PolicyPair::kFiles;
  pipeline.dynamics = options.dynamics;
  if (c.gradient_steps > 0) pipeline.dynamics.fit.steps = c.gradient_steps;
  pipeline.classifiers = options.classifiers;
  pipeline.rollout = options.rollout;
  pipeline.log.cross_fit = options.cross_fit;
  pipeline.doubly_robust = options.doubly_robust;
  // the estimate stated first is among those of the first variant
  pipeline.estimators.variants = {LfiwVariant::kTrajectory};
  pipeline.support = options.support;
  pipeline.truth.enabled = false;
  pipeline.intervals.level = options.level;
  return pipeline;
}

EpisodeBatch Collect(const LinearGaussianSystem& system, const Policy& policy,
                     const EpisodeRequest& request) {
  return CollectEpisodes(*MakeLinearGaussianFactory(system), policy, request);
}

// The episodes that the dynamics is fitted to in place of the log's.
EpisodeBatch CollectWrongEpisodes(const VerdictCase& c, const Policy& policy,
                                  const EpisodeBatch& log, std::uint64_t seed) {
  if (c.rescale.size() > 0) {
    EpisodeBatch rescaled = log;
    rescaled.observations *= c.rescale.cast<float>().asDiagonal();
    return rescaled;
  }
  return Collect(*c.believed, policy,
                 {.episodes = log.episodes(),
                  .horizon = c.logged_steps,
                  .seed = seed,
                  .purpose = "wrong episodes"});
}

// Returns the row of a case that is judged as the one from rollouts: the one stated first, or with
// degenerate weights the one that has all of them.
RowKey RolloutRow(const VerdictCase& c, const PolicyEvaluation& evaluation) {
  if (c.plant == PlantedFailure::kDegenerateWeights) return {RowKind::kWeighted, 0, c.horizon};
  if (evaluation.measured.calibrated) return {RowKind::kCalibrated};
  return ChooseRolloutHeadline(evaluation.measured).key;
}

// Returns what a row says. `spread` is the deviation of a logged return.
CaseOutcome OutcomeOf(const VerdictCase& c, const JudgedRow& judged, double spread) {
  const ResultRow& row = judged.row;
  CaseOutcome outcome{.estimator = row.estimator,
                      .horizon = row.horizon.value_or(0),
                      .value = row.value,
                      .standard_error = row.standard_error,
                      .ci_low = row.ci_low,
                      .ci_high = row.ci_high,
                      .interval_method = row.interval_method,
                      .evidence = judged.evidence};
  outcome.plain_low = judged.plain_low;
  outcome.plain_high = judged.plain_high;
  outcome.truth = c.Truth();
  outcome.spread = spread;
  return outcome;
}

}  // namespace

CaseOutcomes RunVerdictCase(const CaseOptions& options, const VerdictCase& c, std::uint64_t seed,
                            const std::string& folder) {
  const EvaluationConfig pipeline = PipelineConfig(options, c, seed);
  const auto env = MakeLinearGaussianFactory(c.system);
  const Task task{env->spec(), env};
  StageCache cache(folder + "/stages");
  const StageContext context{pipeline, task, cache, Verbosity::kQuiet};

  PolicySet policies;
  policies.behavior = SavePolicy(c.behavior, "behavior", folder);
  policies.evaluations = {SavePolicy(c.evaluation, "evaluation", folder)};
  const GaussianMlpPolicy behavior = GaussianMlpPolicy::Load(policies.behavior->path);

  const LogSource log{.log = Collect(c.system, behavior,
                                     {.episodes = options.episodes,
                                      .horizon = c.logged_steps,
                                      .seed = seed,
                                      .purpose = "log"}),
                      .hash = "log"};
  const LogSplit split =
      SplitLog(log.log.episodes(), pipeline.log, pipeline.dynamics.members, seed);
  LogSource believed = log;
  if (c.believed)
    believed = {.log = CollectWrongEpisodes(c, behavior, log.log, seed), .hash = "wrong log"};
  const FittedModels models =
      FitModels(context, believed, log, policies.behavior, split, pipeline.classifiers.instances);
  const auto logged = LoggedValue(log.log, pipeline.value, pipeline.value.horizon);
  const std::vector<PolicyEvaluation> evaluations =
      EvaluatePolicies({context, policies, log, split, models, logged});
  const PolicyEvaluation& evaluation = evaluations.front();
  const double spread = LoggedValue(log.log, pipeline.value, c.logged_steps)->spread;
  const auto outcome = [&](const RowKey& key) {
    return OutcomeOf(c, FindRow(key, evaluation.rows), spread);
  };
  CaseOutcomes outcomes{.rollouts = outcome(RolloutRow(c, evaluation)), .doubly_robust = {}};
  if (evaluation.measured.doubly_robust) {
    outcomes.doubly_robust = outcome({.kind = RowKind::kDoublyRobust});
  }
  return outcomes;
}

}  // namespace lfiw::experiments
