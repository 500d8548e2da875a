#include "experiments/evaluation/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/logs/log_audit.h"
#include "core/logs/log_reader.h"
#include "core/logs/open_log.h"
#include "core/run/sha256.h"
#include "core/run/shared_loop.h"
#include "core/statistics.h"
#include "envs/env_registry.h"
#include "experiments/evaluation/env_audit.h"
#include "experiments/evaluation/source_stages.h"
#include "models/transition_view.h"
#include "policies/files/policy_file.h"
#include "policies/log_compatibility.h"
#include "policies/mean_policy.h"
#include "policies/policy_check.h"

namespace lfiw::experiments {
namespace {

// One PPO run as a stage.
Artifact TrainPolicy(const StageContext& context, const PpoOptions& options, std::uint64_t seed,
                     const std::string& title) {
  return context.cache.Run<PolicyStage>({context.task.spec.name, options, seed},
                                        {*context.task.env, title}, context.Work());
}

PolicySet TrainSnapshots(const StageContext& context) {
  const PolicyPairOptions& pair = context.config.policies;
  PpoOptions options;
  static_cast<PpoHyperparameters&>(options) = pair.ppo;
  options.total_steps = pair.evaluation_steps;
  options.snapshots = {pair.behavior_steps};
  const Artifact run = TrainPolicy(context, options, pair.seed, "train policies (PPO)");
  return {.behavior = LoadPolicySource(run.File(PolicyStage::SnapshotFile(pair.behavior_steps)),
                                       "behavior"),
          .evaluations = {LoadPolicySource(run.File(PolicyStage::kPolicyFile), "evaluation")},
          .training = {PolicyStage::CurveOf(run, fmt::format("seed {}", pair.seed))}};
}

PolicySet TrainIndependent(const StageContext& context) {
  const PolicyPairOptions& pair = context.config.policies;
  const auto train = [&](std::int64_t which) {
    PpoOptions options;
    static_cast<PpoHyperparameters&>(options) = pair.ppo;
    options.total_steps = which == 0 ? pair.behavior_steps : pair.evaluation_steps;
    return TrainPolicy(
        context, options, pair.seed + (which == 0 ? 1 : 0),
        which == 0 ? "train behavior policy (PPO)" : "train evaluation policy (PPO)");
  };
  std::array<Artifact, 2> runs;
  ShareTasks(context.cache, 2,
             [&](std::int64_t i) { runs[static_cast<std::size_t>(i)] = train(i); });
  return {.behavior = LoadPolicySource(runs[0].File(PolicyStage::kPolicyFile), "behavior"),
          .evaluations = {LoadPolicySource(runs[1].File(PolicyStage::kPolicyFile), "evaluation")},
          .training = {PolicyStage::CurveOf(runs[0], "behavior"),
                       PolicyStage::CurveOf(runs[1], "evaluation")}};
}

// File names without what they share would be shorter but less recognizable: the whole name,
// numbered where several policies have the same.
std::vector<std::string> LabelsOf(const std::vector<std::string>& paths) {
  std::vector<std::string> labels;
  std::set<std::string> taken;
  for (const std::string& path : paths) {
    const std::string stem = PolicyLabel(path);
    std::string label = stem;
    for (int i = 2; !taken.insert(label).second; ++i) label = fmt::format("{}_{}", stem, i);
    labels.push_back(label);
  }
  return labels;
}

PolicySource GivenPolicy(const Task& task, const std::string& path, const std::string& label) {
  std::shared_ptr<const Policy> policy = LoadPolicy(path);
  CheckFits(*policy, task.spec);
  return {path, PolicyHash(path), label, std::move(policy)};
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

PolicySet PoliciesOf(const StageContext& context) {
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

PolicySource WithoutNoise(PolicySource source) {
  source.policy = std::make_shared<MeanPolicy>(std::move(source.policy));
  source.hash += " without noise";
  return source;
}

VectorD BoundOf(const std::vector<double>& given, const char* name, const VectorD& shown) {
  if (given.empty()) return shown;
  if (std::ssize(given) != shown.size()) {
    Throw<ConfigError>("task.{}: {} values, but the log's actions have {} dimensions", name,
                       given.size(), shown.size());
  }
  return Eigen::Map<const VectorD>(given.data(), shown.size());
}

// Recovers the one column of aux that the reward function needs from the logged reward, which is
// linear in it: (r - R(s, a, s', 0)) / (R(s, a, s', 1) - R(s, a, s', 0)). Returns the root mean
// square difference to the rewards that follow from observations alone.
double RecoverAux(const EnvFactory& env, EpisodeBatch& log) {
  const TransitionView steps(log, IndexList(log.episodes()));
  const auto count = static_cast<std::size_t>(steps.size());
  std::vector<double> rest(count), with_one(count), trapezoid(count);
  const auto rules = env.MakeTaskRules(), observed = env.MakeTaskRules(RewardSource::kTrapezoid);
  ForEachBlock(steps, [&](std::int64_t begin, const Transitions& t) {
    const auto first = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(t.size());
    const auto rewards = [&](const TaskRules& from, float aux, std::vector<double>& out) {
      from.Rewards(t.states, t.actions, t.next_states, MatrixF::Constant(t.size(), 1, aux),
                   std::span(out).subspan(first, n));
    };
    rewards(*rules, 0.0f, rest);
    rewards(*rules, 1.0f, with_one);
    rewards(*observed, 0.0f, trapezoid);
  });
  log.aux.setZero(log.steps(), 1);
  std::vector<double> squares;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t step = steps.Step(static_cast<std::int64_t>(i));
    const double reward = log.rewards[static_cast<std::size_t>(step)];
    // as a float, 1 is 1 whatever it was subtracted from
    const double weight = static_cast<float>(with_one[i] - rest[i]);
    if (weight != 0.0) log.aux(step, 0) = static_cast<float>((reward - rest[i]) / weight);
    const double difference = reward - trapezoid[i];
    squares.push_back(difference * difference);
  }
  return std::sqrt(Mean(squares));
}

// What RecoverAux did, in words.
std::string RecoveryNote(const EnvSpec& spec, double rms) {
  if (spec.aux_is_forward_velocity()) {
    return fmt::format(
        "the displacement of each step is recovered from the logged rewards; it differs from the "
        "mean observed velocity by {:.3g} (root mean square)",
        rms);
  }
  return fmt::format(
      "what observations do not tell of a reward ({}) is recovered from the logged rewards, which "
      "differ from those of observations alone by {:.3g} (root mean square)",
      spec.aux_names.front(), rms);
}

// Of all files that are read for the log.
std::string HashOfLog(const std::string& path) {
  std::string hash;
  for (const std::string& file : LogFiles(path)) {
    if (!hash.empty()) hash += '+';
    hash += Sha256HexOfFile(file);
  }
  return hash;
}

// What the reader decided is told in its notes.
void DropNotes(AuditReport& audit) {
  std::erase_if(audit.findings, [](const Finding& f) { return f.severity == Severity::kNote; });
}

AuditReport AuditOf(const LoadedLog& log) {
  LogAuditor auditor;
  auditor.Add(log.batch);
  AuditReport audit = auditor.Finish(log.info, log.counts);
  DropNotes(audit);
  return audit;
}

// Compares the log with the environment that it is said to be of.
void AddEnvFindings(const std::shared_ptr<const EnvFactory>& env, LogSource& log) {
  EnvAuditor auditor(env);
  auditor.Add(log.log);
  auditor.Finish(log.audit);
  DropNotes(log.audit);
}

TruthStage::Key TruthKeyOf(const StageContext& context) {
  const EvaluationConfig& config = context.config;
  return {context.task.spec.name, config.truth.episodes, config.value.horizon,
          config.value.discount, config.seed};
}

}  // namespace

LogSource ReadLogFile(const LogOptions& options, const std::string& environment,
                      std::uint64_t seed) {
  LogReadOptions read{.map = options.map};
  // forward positions in the file give the displacement that some rewards need
  if (environment != kNoEnvironment && !environment.empty()) {
    const EnvSpec spec = FindEnv(environment)->spec();
    if (spec.aux_is_forward_velocity()) read.position_step_seconds = spec.step_seconds;
  }
  LoadedLog loaded = LoadLog(options.file, read, options.max_transitions, seed);
  ValidateSizes(loaded.batch, options.file);
  AuditReport audit = AuditOf(loaded);
  return {.log = std::move(loaded.batch),
          .hash = fmt::format("{} {} {} {} {}", HashOfLog(options.file), options.map,
                              read.position_step_seconds, options.max_transitions, seed),
          .environment = std::move(loaded.info.environment),
          .discrete_actions = loaded.info.discrete_actions,
          .notes = std::move(loaded.info.notes),
          .audit = std::move(audit)};
}

Task MakeTask(const EvaluationConfig& config, const LogSource* log) {
  if (config.environment != kNoEnvironment) {
    const std::shared_ptr<const EnvFactory> env = FindEnv(config.EnvironmentName());
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
  if (task.env != nullptr) {
    AddEnvFindings(task.env, log);
    if (const std::string other = VersionConflict(task.spec.name, log.environment);
        !other.empty()) {
      log.audit.AddFinding(Severity::kWarning, "environment_version", other,
                           fmt::format("use --env {}", log.environment));
    }
  }
  if (task.env == nullptr || task.spec.aux_dim() == 0 || log.log.aux_dim() > 0) return;
  const double rms = RecoverAux(*task.env, log.log);
  log.notes.push_back(RecoveryNote(task.spec, rms));
}

PolicySet MakePolicies(const StageContext& context) {
  PolicySet set = PoliciesOf(context);
  if (context.config.policies.mean) {
    for (PolicySource& policy : set.evaluations) policy = WithoutNoise(std::move(policy));
  }
  return set;
}

PolicySource FindBehavior(const StageContext& context, const LogSource& log) {
  const std::string file = LogFiles(context.config.log.file).front();
  try {
    return GivenPolicy(context.task, file, "behavior (in the log's file)");
  } catch (const PolicyError&) {
    // there is none in it
  }
  CloningOptions options = context.config.back_test.cloning;
  if (log.discrete_actions > 0) options.kind = CloneKind::kCategorical;
  const EnvSpec& spec = context.task.spec;
  const BehaviorCloneStage::Key key{
      .options = options,
      .action_low = {spec.action_low.begin(), spec.action_low.end()},
      .action_high = {spec.action_high.begin(), spec.action_high.end()},
      .seed = context.config.seed};
  const Artifact artifact = context.cache.Run<BehaviorCloneStage>(key, {log}, context.Work());
  PolicySource clone =
      LoadPolicySource(artifact.File(BehaviorCloneStage::kPolicyFile), "behavior (cloned)");
  clone.cloned = true;
  return clone;
}

LogSource CollectLog(const StageContext& context, const PolicySource& behavior) {
  const EvaluationConfig& config = context.config;
  const Artifact artifact = context.cache.Run<LogStage>(
      {context.task.spec.name, config.log.episodes, config.value.horizon, config.seed},
      {*context.task.env, behavior}, context.Work());
  const std::string path = artifact.File(LogStage::kLogFile);
  return {.log = LoadLog(path).batch, .hash = Sha256HexOfFile(path)};
}

MonteCarloEstimate MakeTruth(const StageContext& context, const PolicySource& evaluation) {
  const EvaluationConfig& config = context.config;
  const Artifact artifact = context.cache.Run<TruthStage>(
      TruthKeyOf(context), {*context.task.env, evaluation}, context.Work());
  MonteCarloEstimate truth = TruthStage::Read(artifact);
  const double scale = StepFactors(config.value, config.value.horizon).front();
  truth.value *= scale;
  truth.standard_error *= scale;
  return truth;
}

void PrepareTruth(const StageContext& context, const PolicySource& evaluation) {
  context.cache.Prepare<TruthStage>(TruthKeyOf(context), {*context.task.env, evaluation},
                                    context.Work());
}

}  // namespace lfiw::experiments
