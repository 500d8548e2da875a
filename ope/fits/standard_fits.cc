#include "ope/fits/standard_fits.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "core/index_list.h"
#include "ope/fit.h"
#include "ope/fits/fqe.h"
#include "ope/fits/linear_gaussian_fits.h"
#include "ope/fits/model_values.h"
#include "ope/fits/tabular_fits.h"

namespace lfiw::ope {
namespace {

// The work of fits by gradient steps.
template <class Options>
FitWork GradientSteps(const AnyOptions& options, const Estimand& /*estimand*/) {
  const auto& of = options.As<Options>();
  return {of.members * of.fit.steps, "gradient steps"};
}

LoggedProblem ProblemOf(const FitSources& in) { return {in.log, in.policy, in.spec, in.estimand}; }

// Says that closed forms have no such fit.
FittedArrays NeedsNetworks(const std::string& name) {
  FittedArrays out;
  out.missing[name] = "needs networks, which closed forms do without; mwl and mql are of its kind";
  return out;
}

FitMethod ActionRatioFit() {
  FitMethod fit{.name = "action",
                .summary = "ratios of the policies' probabilities of the logged actions",
                .provides = {"action"}};
  fit.reads = {FitReads::kActionDensities};
  fit.storage = FitStorage::kMadeAnew;
  fit.on_log = [](const FitSources& in, const AnyOptions&) {
    FittedArrays out;
    const ActionDensities& densities = *in.densities;
    out.log_ratios["action"] =
        ActionLogRatios(in.log, in.episodes, densities.evaluation, densities.behavior,
                        densities.kind, in.columns, densities.source);
    return out;
  };
  fit.on_tabular = [](const TabularSource& in, const AnyOptions&) {
    FittedArrays out;
    out.log_ratios["action"] = ActionLogRatios(in.behavior, in.evaluation, in.log);
    return out;
  };
  fit.on_linear_gaussian = [](const LinearGaussianSource& in, const AnyOptions&) {
    return LinearGaussianActionRatios(in);
  };
  return fit;
}

FittedArrays FitModel(const FitSources& in, const AnyOptions& any) {
  const auto& options = any.As<ModelValueOptions>();
  FittedArrays out;
  if (std::ssize(in.episodes) < 2 * options.folds) {
    out.missing["model"] = out.missing["model_visitation"] =
        fmt::format("{} logged episodes are too few for values in the model from {} folds",
                    std::ssize(in.episodes), options.folds);
    return out;
  }
  const MatrixF no_starts;
  const RolloutInputs rollout{.dynamics = in.dynamics->dynamics,
                              .ratios = {},
                              .policy = in.policy,
                              .spec = in.spec,
                              .functions = in.dynamics->rules,
                              .start_states = no_starts,
                              .range = in.dynamics->range};
  ModelValues fitted = FitModelValues(rollout, in.behavior, in.log, in.episodes, in.columns,
                                      in.estimand.discount, options, in.seed, in.run);
  out.values["model"] = std::move(fitted.values);
  out.log_ratios["model_visitation"] = std::move(fitted.state_log_ratios);
  out.model_alive = std::move(fitted.alive);
  return out;
}

FitMethod ModelValueFit() {
  FitMethod fit{.name = "model",
                .summary = "values and visited states in the learned model",
                .provides = {"model", "model_visitation"},
                .options = ModelValueOptions()};
  fit.reads = {FitReads::kDynamics, FitReads::kBehavior};
  fit.version = 2;
  fit.work = [](const AnyOptions& options, const Estimand& estimand) -> FitWork {
    return {ModelValueWork(options.As<ModelValueOptions>(), estimand.horizon.value_or(1)), "steps"};
  };
  fit.on_log = FitModel;
  fit.on_tabular = [](const TabularSource& in, const AnyOptions&) {
    return TabularModelValues(in);
  };
  fit.on_linear_gaussian = [](const LinearGaussianSource& in, const AnyOptions&) {
    return LinearGaussianModelValues(in);
  };
  return fit;
}

FitMethod FqeValueFit() {
  FitMethod fit{.name = "fqe",
                .summary = "fitted Q evaluation",
                .provides = {"fqe"},
                .options = FqeOptions()};
  fit.version = 2;
  fit.work = [](const AnyOptions& any, const Estimand& estimand) {
    FitWork work = GradientSteps<FqeOptions>(any, estimand);
    work.total *= any.As<FqeOptions>().folds;
    return work;
  };
  fit.on_log = [](const FitSources& in, const AnyOptions& any) {
    const auto& options = any.As<FqeOptions>();
    FqeOutcome fitted =
        FitFqeValues(ProblemOf(in), in.episodes, in.columns, options, in.seed, in.run);
    FittedArrays out;
    out.values["fqe"] = std::move(fitted.values);
    out.notes["fqe"] = std::move(fitted.notes);
    return out;
  };
  fit.on_tabular = [](const TabularSource& in, const AnyOptions&) { return TabularQ(in, "fqe"); };
  fit.on_linear_gaussian = [](const LinearGaussianSource& in, const AnyOptions&) {
    return QuadraticQ(in, "fqe");
  };
  return fit;
}

FittedArrays FitLinear(const FitSources& in, const AnyOptions& any) {
  const auto& options = any.As<LinearFitOptions>();
  const LoggedProblem problem = ProblemOf(in);
  const LinearValues fit =
      FitLinearValues(problem, MakeFourierFeatures(in.log, in.estimand, options.features, in.seed),
                      options.values, in.seed);
  FittedArrays out;
  out.values["mql"] = LinearQValues(fit, problem, in.episodes, in.columns, options.values, in.seed);
  out.weights["mwl"] = LinearWeights(fit, in.log, in.episodes, in.estimand, in.columns);
  out.notes["mql"] = out.notes["mwl"] = {
      fmt::format("condition numbers {:.1g} of Q's equations and {:.1g} of the weights'",
                  fit.q_condition, fit.weight_condition)};
  if (in.run.progress != nullptr) in.run.progress->Advance(1);
  return out;
}

FitMethod LinearFit() {
  FitMethod fit{.name = "linear",
                .summary = "minimax Q and weight learning",
                .provides = {"mql", "mwl"},
                .options = LinearFitOptions()};
  fit.on_log = FitLinear;
  fit.on_tabular = [](const TabularSource& in, const AnyOptions&) {
    FittedArrays out = TabularQ(in, "mql");
    out.notes["mql"] = {"the same as fqe where every step, observation and action has a value"};
    out.Merge(TabularMarginalWeights(in, "mwl"));
    return out;
  };
  fit.on_linear_gaussian = [](const LinearGaussianSource& in, const AnyOptions&) {
    FittedArrays out = QuadraticQ(in, "mql");
    if (out.values.contains("mql")) out.notes["mql"] = {"the same as fqe with these features"};
    out.Merge(QuadraticMarginalWeights(in));
    return out;
  };
  return fit;
}

// The regularized Lagrangian with the options of a member of its family.
FitMethod LagrangianRatioFit(const std::string& name, const std::string& summary,
                             const LagrangianOptions& options) {
  FitMethod fit{.name = name, .summary = summary, .provides = {name}, .options = options};
  fit.work = GradientSteps<LagrangianOptions>;
  fit.on_log = [name](const FitSources& in, const AnyOptions& any) {
    const LagrangianFit fitted =
        FitLagrangian(ProblemOf(in), any.As<LagrangianOptions>(), name, in.seed, in.run);
    FittedArrays out;
    out.log_ratios[name] =
        LagrangianLogRatios(fitted, in.log, in.episodes, in.estimand, in.columns);
    out.notes[name] = fitted.notes;
    out.notes[name].push_back(fmt::format("primal-dual gap {:.1f} %", 100.0 * fitted.gap));
    return out;
  };
  fit.on_tabular = [name](const TabularSource& in, const AnyOptions&) {
    return TabularMarginalWeights(in, name);
  };
  fit.on_linear_gaussian = [name](const LinearGaussianSource&, const AnyOptions&) {
    return NeedsNetworks(name);
  };
  return fit;
}

FittedArrays FitMrdrValues(const FitSources& in, const AnyOptions& any) {
  const auto& options = any.As<MrdrOptions>();
  const ActionDensities& densities = *in.densities;
  const Array<double, 2> ratios =
      ActionLogRatios(in.log, IndexList(in.log.episodes()), densities.evaluation,
                      densities.behavior, densities.kind, in.columns, densities.source);
  const LoggedProblem problem = ProblemOf(in);
  const MrdrFit fit = FitMrdr(problem, ratios, options, in.seed, in.run);
  FittedArrays out;
  out.values["mrdr"] = MrdrValues(fit, problem, in.episodes, in.columns, options, in.seed);
  out.notes["mrdr"] = {fmt::format("mrdr: ratios of {:.1f} % of the logged steps were clipped",
                                   100.0 * fit.clipped_share)};
  return out;
}

FitMethod MrdrValueFit() {
  FitMethod fit{.name = "mrdr",
                .summary = "more robust doubly robust evaluation",
                .provides = {"mrdr"},
                .options = QuickMrdr()};
  fit.reads = {FitReads::kActionDensities};
  fit.work = GradientSteps<MrdrOptions>;
  fit.on_log = FitMrdrValues;
  fit.on_tabular = [](const TabularSource&, const AnyOptions&) {
    FittedArrays out;
    out.missing["mrdr"] =
        "its Q is fqe's in expectation where every step, observation and action has a value";
    return out;
  };
  fit.on_linear_gaussian = [](const LinearGaussianSource&, const AnyOptions&) {
    return NeedsNetworks("mrdr");
  };
  return fit;
}

FitMethod FamilyFit() {
  FitMethod fit{
      .name = "family",
      .summary = "rollouts of both policies in every member, with several amounts of noise",
      .provides = {"family"}};
  fit.reads = {FitReads::kDynamics, FitReads::kBehavior};
  fit.storage = FitStorage::kMadeAnew;
  fit.on_log = [](const FitSources& in, const AnyOptions&) { return in.dynamics->family(); };
  return fit;
}

FitMethod RolloutFit() {
  FitMethod fit{.name = "rollouts",
                .summary = "rollouts in the learned model",
                .provides = {"rollouts", "classifiers"}};
  fit.reads = {FitReads::kDynamics};
  fit.storage = FitStorage::kMadeAnew;
  fit.on_log = [](const FitSources& in, const AnyOptions&) {
    ModelRollouts rollouts = in.dynamics->roll_out();
    FittedArrays out;
    out.model_rewards = std::move(rollouts.rewards);
    out.model_log_weights = std::move(rollouts.log_weights);
    return out;
  };
  fit.on_tabular = [](const TabularSource& in, const AnyOptions&) { return TabularRollouts(in); };
  fit.on_linear_gaussian = [](const LinearGaussianSource& in, const AnyOptions&) {
    return LinearGaussianRollouts(in);
  };
  return fit;
}

// Exact state ratios, which only closed forms have.
FitMethod VisitationFit() {
  FitMethod fit{.name = "visitation",
                .summary = "exact ratios of visited to logged states",
                .provides = {"visitation"}};
  fit.on_tabular = [](const TabularSource& in, const AnyOptions&) {
    FittedArrays out;
    out.log_ratios["visitation"] =
        VisitationLogRatios(in.system, in.behavior, in.evaluation, in.log);
    return out;
  };
  fit.on_linear_gaussian = [](const LinearGaussianSource& in, const AnyOptions&) {
    FittedArrays out;
    out.log_ratios["visitation"] =
        VisitationLogRatios(in.system, in.behavior, in.evaluation, in.log);
    return out;
  };
  return fit;
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

FitRegistry StandardFits() {
  FitRegistry registry;
  registry.Add(ActionRatioFit());
  registry.Add(ModelValueFit());
  registry.Add(FqeValueFit());
  registry.Add(LinearFit());
  registry.Add(LagrangianRatioFit("dual_dice", "DualDICE", QuickDualDice()));
  registry.Add(LagrangianRatioFit("gen_dice", "GenDICE", QuickGenDice()));
  registry.Add(MrdrValueFit());
  registry.Add(RolloutFit());
  registry.Add(FamilyFit());
  registry.Add(VisitationFit());
  return registry;
}

}  // namespace lfiw::ope
