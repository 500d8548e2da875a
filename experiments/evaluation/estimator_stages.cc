#include "experiments/evaluation/estimator_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "core/arrays/npz.h"
#include "core/config/config.h"
#include "core/error.h"
#include "core/run/sha256.h"
#include "experiments/presentation/stage_files.h"
#include "policies/files/policy_file.h"

namespace lfiw::experiments {
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

// A stage of the log, the evaluated policy and these episodes.
Stage StageOn(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
              std::string name, const std::string& options) {
  return {.name = std::move(name),
          .config = options + TaskText(in.context) + fmt::format(" {}", fmt::join(episodes, ",")),
          .inputs = {in.log.hash, in.policy.hash},
          .seed = in.context.config.seed};
}

// Steps that arrays over the log have.
std::int64_t ColumnsOf(const EstimatorSources& in) { return in.context.config.value.horizon; }

void PutArray(const char* name, const Array<double, 2>& array, NpzFile& file) {
  file.Put(name, std::vector<double>(array.flat().begin(), array.flat().end()));
}

std::string HashOf(const Array<double, 2>& array) {
  const std::span<const double> values = array.flat();
  return Sha256Hex({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

// What a stage has written, and the shape its arrays have.
struct StageArrays {
  std::string path;
  NpzFile file;
  std::int64_t rows, columns;

  Array<double, 2> Get(const char* name, std::int64_t width) const {
    Array<double, 2> array({rows, width});
    const std::vector<double> values = file.GetDoubles(name);
    if (std::ssize(values) != array.size()) {
      Throw<DataError>("{}: {} has {} values, expected {}", path, name, values.size(),
                       array.size());
    }
    std::ranges::copy(values, array.flat().begin());
    return array;
  }
  ValueArrays Values() const { return {Get("q", columns), Get("v", columns + 1), {}}; }
};

constexpr const char* kArrays = "values.npz";

StageArrays ReadArrays(const Artifact& artifact, const EstimatorSources& in,
                       const std::vector<std::int64_t>& episodes) {
  const std::string path = artifact.File(kArrays);
  return {path, NpzFile::Read(path), std::ssize(episodes), ColumnsOf(in)};
}

constexpr const char* kNotes = "notes.json";

void WriteNotes(const std::vector<std::string>& notes, const std::string& directory) {
  WriteJson(notes, directory + "/" + kNotes);
}

std::vector<std::string> ReadNotes(const Artifact& artifact) {
  return ReadJson(artifact.File(kNotes)).get<std::vector<std::string>>();
}

}  // namespace

LagrangianOptions QuickDualDice() {
  LagrangianOptions options = DualDiceOptions();
  options.members = 1;
  options.network.width = 64;
  options.fit.steps = 10'000;
  options.fit.batch = 512;
  return options;
}

LagrangianOptions QuickGenDice() {
  LagrangianOptions options = QuickDualDice();
  const LagrangianOptions gen_dice = GenDiceOptions();
  options.primal_regularizer = gen_dice.primal_regularizer;
  options.dual_regularizer = gen_dice.dual_regularizer;
  options.normalization = gen_dice.normalization;
  options.fit.adam.learning_rate = 1e-4;
  return options;
}

MrdrOptions QuickMrdr() {
  MrdrOptions options;
  options.members = 1;
  options.network.width = 128;
  options.fit.steps = 6000;
  options.target_every = 50;
  options.target_draws = 2;
  return options;
}

Estimand EstimandOf(const EstimandOptions& options) {
  Estimand estimand;
  static_cast<ValueOptions&>(estimand) = options;
  if (!options.infinite()) estimand.horizon = options.horizon;
  return estimand;
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
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("fit values of " + in.policy.label, ModelValueWork(options, horizon),
                              "steps", context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
    const std::unique_ptr<TaskRules> functions = ModelTaskRules(
        TaskKeyOf(context), context.task.env.get(), context.config.rollout.reward, *in.models);
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
  return ModelValues::Load(artifact.File("values.npz"));
}

ValueArrays FqeStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes) {
  const StageContext& context = in.context;
  const FqeOptions& options = in.options.fqe;
  const Estimand estimand = EstimandOf(context.config.value);
  const Stage stage = StageOn(in, episodes, "fqe", CanonicalText(options));
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("fit Q of " + in.policy.label, options.members * options.fit.steps,
                              "gradient steps", context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
    const FqeFit fit = FitFqe(in.log.log, *policy, context.task.spec, estimand, options,
                              context.config.seed, RunIn(context, directory, progress));
    const ValueArrays values = FqeValues(fit, in.log.log, episodes, *policy, context.task.spec,
                                         estimand, ColumnsOf(in), options, context.config.seed);
    NpzFile file;
    PutArray("q", values.q, file);
    PutArray("v", values.v, file);
    file.Put("residual", std::vector<double>{fit.residual});
    file.Write(directory + "/" + kArrays);
  });
  return ReadArrays(artifact, in, episodes).Values();
}

LinearArrays LinearStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes) {
  const StageContext& context = in.context;
  const EnvSpec& spec = context.task.spec;
  const LinearFitOptions& options = in.options.linear;
  const Estimand estimand = EstimandOf(context.config.value);
  const Stage stage = StageOn(in, episodes, "linear_values", CanonicalText(options));
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("fit linear values of " + in.policy.label, 1, "fits",
                              context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
    const std::uint64_t seed = context.config.seed;
    const LinearValues fit = FitLinearValues(
        in.log.log, *policy, spec, estimand,
        MakeFourierFeatures(in.log.log, estimand, options.features, seed), options.values, seed);
    const ValueArrays values = LinearQValues(fit, in.log.log, episodes, *policy, spec, estimand,
                                             ColumnsOf(in), options.values, seed);
    NpzFile file;
    PutArray("q", values.q, file);
    PutArray("v", values.v, file);
    PutArray("weights", LinearWeights(fit, in.log.log, episodes, estimand, ColumnsOf(in)), file);
    file.Write(directory + "/" + kArrays);
    WriteNotes({fmt::format("condition numbers {:.1g} of Q's equations and {:.1g} of the weights'",
                            fit.q_condition, fit.weight_condition)},
               directory);
    progress.Advance(1);
  });
  const StageArrays arrays = ReadArrays(artifact, in, episodes);
  return {arrays.Values(), arrays.Get("weights", arrays.columns), ReadNotes(artifact)};
}

RatioArrays LagrangianStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                            const LagrangianOptions& options, const std::string& name) {
  const StageContext& context = in.context;
  const EnvSpec& spec = context.task.spec;
  const Estimand estimand = EstimandOf(context.config.value);
  const Stage stage = StageOn(in, episodes, name, CanonicalText(options));
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress(fmt::format("fit {} of {}", name, in.policy.label),
                              options.members * options.fit.steps, "gradient steps",
                              context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
    LagrangianFit fit = FitLagrangian(in.log.log, *policy, spec, estimand, options, name,
                                      context.config.seed, RunIn(context, directory, progress));
    NpzFile file;
    PutArray("log_ratios", LagrangianLogRatios(fit, in.log.log, episodes, estimand, ColumnsOf(in)),
             file);
    file.Write(directory + "/" + kArrays);
    fit.notes.push_back(fmt::format("primal-dual gap {:.1f} %", 100.0 * fit.gap));
    WriteNotes(fit.notes, directory);
  });
  const StageArrays arrays = ReadArrays(artifact, in, episodes);
  return {arrays.Get("log_ratios", arrays.columns), ReadNotes(artifact)};
}

MrdrArrays MrdrStage(const EstimatorSources& in, const std::vector<std::int64_t>& episodes,
                     const Array<double, 2>& action_log_ratios) {
  const StageContext& context = in.context;
  const EnvSpec& spec = context.task.spec;
  const MrdrOptions& options = in.options.mrdr;
  const Estimand estimand = EstimandOf(context.config.value);
  Stage stage = StageOn(in, episodes, "mrdr", CanonicalText(options));
  stage.inputs.push_back(HashOf(action_log_ratios));
  const Artifact artifact = context.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("fit MRDR of " + in.policy.label, options.members * options.fit.steps,
                              "gradient steps", context.verbosity);
    const std::unique_ptr<Policy> policy = LoadPolicy(in.policy.path);
    const MrdrFit fit = FitMrdr(in.log.log, action_log_ratios, *policy, spec, estimand, options,
                                context.config.seed, RunIn(context, directory, progress));
    const ValueArrays values = MrdrValues(fit, in.log.log, episodes, *policy, spec, estimand,
                                          ColumnsOf(in), options, context.config.seed);
    NpzFile file;
    PutArray("q", values.q, file);
    PutArray("v", values.v, file);
    file.Write(directory + "/" + kArrays);
    WriteNotes({fmt::format("mrdr: ratios of {:.1f} % of the logged steps were clipped",
                            100.0 * fit.clipped_share)},
               directory);
  });
  return {ReadArrays(artifact, in, episodes).Values(), ReadNotes(artifact)};
}

}  // namespace lfiw::experiments
