#include "experiments/evaluation/policy_evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/run/shared_loop.h"
#include "experiments/evaluation/estimator_inputs.h"
#include "experiments/evaluation/family_stage.h"
#include "experiments/evaluation/fit_models.h"
#include "experiments/evaluation/fit_stage.h"
#include "experiments/evaluation/rollout_stage.h"
#include "experiments/evaluation/sources.h"
#include "ope/episode_terms.h"
#include "ope/judgement/backtest.h"

namespace lfiw::experiments {
namespace {

// Labeled logits of the held-out transitions: real ones are the positive class.
Calibration CalibrationOf(const FittedModels& models) {
  std::vector<double> logits = models.held_out.real;
  const std::vector<double>& generated = models.held_out.generated;
  logits.insert(logits.end(), generated.begin(), generated.end());
  std::vector<std::uint8_t> labels(logits.size(), 0);
  std::fill_n(labels.begin(), models.held_out.real.size(), 1);
  return MeasureCalibration(logits, labels);
}

// Returns the largest open-loop error. Beyond the longest episode's outcomes there is nothing to
// compare with; before it, an error that is not finite belongs to a prediction that has diverged.
std::optional<double> OpenLoopOf(const FittedModels& models, const LogSource& log,
                                 const LogSplit& split) {
  std::int64_t longest = 0;
  for (const std::int64_t e : split.classifiers) longest = std::max(longest, log.log.Outcomes(e));
  double largest = 0.0;
  const std::vector<double>& errors = models.dynamics_report.open_loop;
  for (std::size_t k = 0; k < errors.size() && std::cmp_less(k, longest); ++k) {
    largest = std::max(largest, std::isfinite(errors[k]) ? errors[k] : HUGE_VAL);
  }
  return errors.empty() ? std::nullopt : std::optional(largest);
}

// The log-weights of `count` classifiers from `first` on.
ModelRollouts TakeClassifiers(const ModelRollouts& rollouts, std::int64_t first,
                              std::int64_t count) {
  const auto& shape = rollouts.log_weights.shape();
  ModelRollouts out = rollouts;
  out.log_weights = Array<double, 4>({shape[0], count, shape[2], shape[3]});
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t i = 0; i < shape[2]; ++i) {
        const auto row = rollouts.log_weights.Row(r, first + c, i);
        std::copy(row.begin(), row.end(), out.log_weights.Row(r, c, i).begin());
      }
    }
  }
  return out;
}

// Evaluates one policy after the other; holds what they share.
class Evaluator {
 public:
  explicit Evaluator(const EvaluationInputs& in)
      : in_(in),
        config_(in.context.config),
        calibration_(CalibrationOf(in.models)),
        improvement_(CheckImprovement(in.models.held_out.real, in.models.held_out.generated,
                                      in.models.held_out.episodes)),
        support_(in.log.log, config_.support, config_.seed) {}

  PolicyEvaluation Evaluate(const PolicySource& policy) const {
    const ModelRollouts rollouts = RollOut(in_.context, in_.log, in_.models, policy);
    return {.policy = policy,
            .clamped_values = rollouts.clamped_values,
            .predicted_values = rollouts.predicted_values,
            .measured = Measure(rollouts),
            .rows = {}};
  }

  void MakeRowsOf(PolicyEvaluation& evaluation) const {
    const RowLabels labels{in_.context.task.spec.name, evaluation.policy.label};
    evaluation.rows = MakeRows(config_, labels, evaluation.measured);
  }

 private:
  std::vector<double> MemberValues(const ModelRollouts& rollouts) const {
    const auto& shape = rollouts.member_rewards.shape();
    const std::vector<double> factors = StepFactors(config_.value, shape[1]);
    std::vector<double> values;
    for (std::int64_t k = 0; k < shape[0]; ++k) {
      const auto rewards = rollouts.member_rewards.Row(k);
      values.push_back(std::inner_product(rewards.begin(), rewards.end(), factors.begin(), 0.0));
    }
    return values;
  }

  ReturnRange Possible() const {
    const bool may_end = config_.task.termination != TerminationSource::kNone;
    return PossibleReturns(in_.log.log, config_.value, config_.value.horizon,
                           may_end ? EpisodeEnd::kMayBeEarlier : EpisodeEnd::kAtHorizon);
  }

  // Classifiers that the bootstrap needs beyond the instances of the table come after them.
  EvaluationMeasurements Measure(const ModelRollouts& rollouts) const {
    const std::int64_t instances = config_.classifiers.instances;
    const std::int64_t replicates = config_.intervals.classifier_replicates;
    const ModelRollouts table = TakeClassifiers(rollouts, 0, instances);
    EvaluationMeasurements measured;
    measured.plain = EstimatePlainModel(table.rewards, config_.value);
    measured.member_values = MemberValues(rollouts);
    measured.sweeps = RunEstimatorGrid(config_.estimators, table, config_.value);
    measured.mean_weights = MeanWeights(table.log_weights);
    measured.calibration = calibration_;
    measured.improvement = improvement_;
    measured.clamp_rate = rollouts.ClampRate();
    measured.possible = Possible();
    measured.seen = LoggedRange(in_.log.log, config_.value, config_.value.horizon);
    // what the models learn from counts every episode once; the weights that stand for cut ones are
    // those of the logged value alone, whose standard error has them
    measured.influence =
        LargestInfluence(RecordedReturns(in_.log.log, config_.value, config_.value.horizon));
    if (in_.logged) measured.spread = in_.logged->spread;
    measured.log_error = FindingsText(in_.log.audit.findings, Severity::kError);
    measured.log_warning = FindingsText(in_.log.audit.findings, Severity::kWarning);
    measured.open_loop = OpenLoopOf(in_.models, in_.log, in_.split);
    measured.reach = static_cast<double>(config_.value.horizon) /
                     static_cast<double>(std::max<std::int64_t>(SupportedSteps(in_.log.log), 1));
    measured.support = support_.Measure({.states = rollouts.visited_states,
                                         .actions = rollouts.visited_actions,
                                         .steps = rollouts.visited_steps,
                                         .horizon = config_.value.horizon});
    if (replicates > 0) {
      measured.classifier_replicates = RunEstimatorGrid(
          config_.estimators, TakeClassifiers(rollouts, instances, replicates), config_.value);
    }
    return measured;
  }

  const EvaluationInputs& in_;
  const EvaluationConfig& config_;
  Calibration calibration_;
  ImprovementCheck improvement_;
  LogSupport support_;
};

// Fits the models of a replicate of the pipeline, on resampled episodes.
FittedModels FitReplicate(const EvaluationInputs& in, std::int64_t b) {
  const EvaluationConfig& config = in.context.config;
  const LogSplit resampled = ResampleLog(in.split, config.seed, static_cast<std::uint64_t>(b));
  return FitModels(in.context, in.log, in.policies.behavior, resampled,
                   config.classifiers.instances);
}

// Reruns everything from the split on, on resampled episodes, and adds what comes of it to the
// evaluations.
void PipelineBootstrap(const EvaluationInputs& in, std::vector<PolicyEvaluation>& evaluations) {
  const EvaluationConfig& config = in.context.config;
  for (std::int64_t b = 0; b < config.intervals.pipeline_replicates; ++b) {
    const FittedModels models = FitReplicate(in, b);
    for (PolicyEvaluation& evaluation : evaluations) {
      const ModelRollouts rollouts = RollOut(in.context, in.log, models, evaluation.policy);
      evaluation.measured.pipeline_replicates.push_back(
          {EstimatePlainModel(rollouts.rewards, config.value),
           RunEstimatorGrid(config.estimators, rollouts, config.value)});
    }
  }
}

// What the doubly robust estimate reads.
std::set<std::string> DoublyRobustNeeds() { return {"action", "model", "model_visitation"}; }

// What the estimates that the configuration names read.
std::set<std::string> NeedsOfRows(const EvaluationConfig& config) {
  std::set<std::string> needs;
  if (config.rows.empty()) return needs;
  const EstimatorRegistry registry = StandardEstimators();
  for (const std::string& name : config.rows) {
    const Estimator& estimator = registry.Find(name);
    needs.insert(estimator.needs.begin(), estimator.needs.end());
  }
  return needs;
}

FitRegistry FitsOf(const EvaluationConfig& config) {
  FitRegistry fits = StandardFits();
  fits.Options<ModelValueOptions>("model") = config.doubly_robust.model;
  return fits;
}

EstimatorSources SourcesOf(const EvaluationInputs& in, const PolicySource& policy,
                           const FitRegistry& fits) {
  return {.context = in.context,
          .fits = fits,
          .log = in.log,
          .split = in.split,
          .models = &in.models,
          .policy = policy,
          .behavior = in.policies.behavior};
}

// Estimates of one policy that are made from logged episodes.
class LogEstimates {
 public:
  LogEstimates(const EvaluationInputs& in, PolicyEvaluation& evaluation)
      : config_(in.context.config),
        fits_(FitsOf(config_)),
        sources_(SourcesOf(in, evaluation.policy, fits_)),
        episodes_(CorrectionEpisodes(sources_)),
        measured_(evaluation.measured) {}

  // Corrects the model's value by the log.
  void AddDoublyRobust() {
    const EstimatorInputs inputs =
        MakeEstimatorInputs(sources_, episodes_, DoublyRobustNeeds()).arrays;
    DoublyRobustMeasurement measured;
    measured.chosen =
        ChooseDoublyRobustLfiw(inputs, EstimandOf(config_.value), {}, config_.doubly_robust.choice);
    measured.episodes = std::ssize(episodes_);
    Finish(measured.chosen.estimate, measured);
    measured_.doubly_robust = std::move(measured);
  }

  // Adds the estimates that the configuration names.
  void AddNamed() {
    if (config_.rows.empty()) return;
    const EstimatorRegistry registry = StandardEstimators();
    const EstimatorInputs inputs =
        MakeEstimatorInputs(sources_, episodes_, NeedsOfRows(config_)).arrays;
    for (const std::string& name : config_.rows) {
      NamedMeasurement measured{
          .name = name,
          .estimate = RunEstimator(registry.Find(name), inputs, EstimandOf(config_.value)),
          .interval = {},
          .episodes = std::ssize(episodes_)};
      Finish(measured.estimate, measured);
      measured_.named.push_back(std::move(measured));
    }
  }

 private:
  // Adds interval and influence, and drops what the rows need no longer.
  template <class Measurement>
  void Finish(Estimate& estimate, Measurement& measured) const {
    if (estimate.value && !estimate.terms.empty()) {
      measured.interval =
          MakeEpisodeInterval(estimate.terms, {.method = EpisodeIntervalMethod::kBca,
                                               .level = config_.intervals.level,
                                               .resamples = config_.doubly_robust.resamples,
                                               .seed = config_.seed});
      measured.influence = LargestInfluence(Influence(estimate.terms));
    }
    estimate.terms = {};
  }

  const EvaluationConfig& config_;
  FitRegistry fits_;
  EstimatorSources sources_;
  std::vector<std::int64_t> episodes_;
  EvaluationMeasurements& measured_;
};

// Whether models are calibrated by the values of the logged policy in each of them.
bool UsesLoggedFamily(const EvaluationInputs& in) {
  return in.context.config.calibrate && in.policies.behavior && in.logged &&
         in.models.dynamics.members() >= 2;
}

// Whether the policy that wrote the log is evaluated by the same methods.
bool BacktestsBehavior(const EvaluationInputs& in) {
  return in.context.config.back_test.enabled && in.policies.behavior && in.logged;
}

// Makes everything that the cache keeps for the evaluations, in a loop that other processes share:
// what is done with it afterwards has an order of its own.
class Preparation {
 public:
  explicit Preparation(const EvaluationInputs& in) : in_(in), needs_(NeedsOf(in.context.config)) {}

  void Run() {
    const StageContext& context = in_.context;
    for (const PolicySource& policy : in_.policies.evaluations) {
      AddRollouts(policy, UsesLoggedFamily(in_));
      if (!needs_.empty()) {
        items_.emplace_back([&] {
          const FitRegistry fits = FitsOf(context.config);
          const EstimatorSources sources = SourcesOf(in_, policy, fits);
          PrepareFits(sources, CorrectionEpisodes(sources), needs_);
        });
      }
      if (context.config.truth.enabled) {
        items_.emplace_back([&] { PrepareTruth(context, policy); });
      }
    }
    if (BacktestsBehavior(in_) || UsesLoggedFamily(in_)) {
      AddRollouts(*in_.policies.behavior, UsesLoggedFamily(in_));
    }
    for (std::int64_t b = 0; b < context.config.intervals.pipeline_replicates; ++b) {
      items_.emplace_back([this, b] { PrepareReplicate(in_, b); });
    }
    ShareInTurn(context.cache, std::ssize(items_),
                [&](std::int64_t i) { items_[static_cast<std::size_t>(i)](); });
    context.cache.EndOfStages();
  }

 private:
  void AddRollouts(const PolicySource& policy, bool family) {
    items_.emplace_back([&] { PrepareRollOut(in_.context, in_.log, in_.models, policy); });
    if (!family) return;
    items_.emplace_back([&] { PrepareFamily(in_.context, in_.log, in_.models, policy); });
  }

  // The stages of one replicate follow from one another.
  static void PrepareReplicate(const EvaluationInputs& in, std::int64_t b) {
    const Rehearsal rehearsal(in.context.cache);
    const FittedModels models = FitReplicate(in, b);
    ShareInTurn(in.context.cache, std::ssize(in.policies.evaluations), [&](std::int64_t p) {
      PrepareRollOut(in.context, in.log, models,
                     in.policies.evaluations[static_cast<std::size_t>(p)]);
    });
  }

  const EvaluationInputs& in_;
  std::set<std::string> needs_;
  std::vector<std::function<void()>> items_;
};

// Values of the logged policy in every model; null where it is not there to ask, or the model has
// too few members to disagree.
std::shared_ptr<const FamilyValues> LoggedFamily(const EvaluationInputs& in) {
  if (!UsesLoggedFamily(in)) return nullptr;
  return std::make_shared<const FamilyValues>(
      ValuesInFamily(in.context, in.log, in.models, *in.policies.behavior));
}

// Evaluates the policy that wrote the log by the same methods.
BacktestsByRow RunBacktests(const EvaluationInputs& in, const Evaluator& evaluator) {
  if (!BacktestsBehavior(in)) return {};
  PolicyEvaluation behavior = evaluator.Evaluate(*in.policies.behavior);
  evaluator.MakeRowsOf(behavior);
  BacktestsByRow tests;
  for (const JudgedRow& judged : behavior.rows) {
    if (!judged.row.value) continue;
    Backtest test = *in.logged;
    test.estimate = *judged.row.value;
    test.estimate_stderr = judged.row.standard_error;
    tests.emplace(judged.key, test);
  }
  return tests;
}

}  // namespace

std::set<std::string> NeedsOf(const EvaluationConfig& config) {
  std::set<std::string> needs = NeedsOfRows(config);
  if (config.doubly_robust.enabled) needs.merge(DoublyRobustNeeds());
  return needs;
}

std::vector<PolicyEvaluation> EvaluatePolicies(const EvaluationInputs& in) {
  Preparation(in).Run();
  const Evaluator evaluator(in);
  const std::shared_ptr<const FamilyValues> logged_family = LoggedFamily(in);
  std::vector<PolicyEvaluation> evaluations;
  for (const PolicySource& policy : in.policies.evaluations) {
    evaluations.push_back(evaluator.Evaluate(policy));
    LogEstimates estimates(in, evaluations.back());
    if (in.context.config.doubly_robust.enabled) estimates.AddDoublyRobust();
    estimates.AddNamed();
    if (logged_family) {
      evaluations.back().family = {
          ValuesInFamily(in.context, in.log, in.models, evaluations.back().policy), logged_family};
      evaluations.back().measured.calibrated =
          CalibrateModel(*logged_family, evaluations.back().family->own, *in.logged);
    }
  }
  PipelineBootstrap(in, evaluations);
  const BacktestsByRow back_tests = RunBacktests(in, evaluator);
  for (PolicyEvaluation& evaluation : evaluations) {
    evaluation.measured.back_tests = back_tests;
    if (in.context.config.truth.enabled) {
      evaluation.measured.truth = MakeTruth(in.context, evaluation.policy);
    }
    evaluator.MakeRowsOf(evaluation);
  }
  return evaluations;
}

}  // namespace lfiw::experiments
