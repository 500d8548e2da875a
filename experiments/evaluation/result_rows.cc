#include "experiments/evaluation/result_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "ope/judgement/psis.h"
#include "ope/rollouts/rollout_estimators.h"

namespace lfiw::experiments {
namespace {

// The fields that all rows of a run share.
ResultRow CommonRow(const EvaluationConfig& config, const RowLabels& labels,
                    const std::optional<MonteCarloEstimate>& truth) {
  ResultRow row;
  row.environment = labels.environment;
  row.policy = labels.policy;
  row.discount = config.value.discount;
  row.scale = EnumName(config.value.scale);
  row.seed = config.seed;
  row.n = config.rollout.repetitions * config.rollout.episodes;
  if (truth) {
    row.truth = truth->value;
    row.truth_standard_error = truth->standard_error;
  }
  return row;
}

void SetValue(ResultRow& row, double value) {
  row.value = value;
  if (row.truth) row.error = value - *row.truth;
}

// Nothing lies outside of what rewards can add up to, unless the value does already.
void SetInterval(ResultRow& row, const Interval& interval,
                 const std::optional<ReturnRange>& possible) {
  double low = interval.low, high = interval.high;
  if (possible && row.value && possible->low <= *row.value && *row.value <= possible->high) {
    low = std::max(low, possible->low);
    high = std::min(high, possible->high);
  }
  row.ci_low = Cell(low);
  row.ci_high = Cell(high);
  row.interval_method = EnumName(interval.method);
}

void SetJudgement(JudgedRow& judged, const VerdictOptions& options) {
  ResultRow& row = judged.row;
  if (row.ci_low && row.ci_high) judged.evidence.width = *row.ci_high - *row.ci_low;
  Judgement judgement = Judge(judged.evidence, options);
  row.verdict = EnumName(judgement.verdict);
  row.reason = fmt::format("{}", fmt::join(judgement.reasons, "; "));
  judged.reasons = std::move(judgement.reasons);
}

const Interval& Widest(const std::vector<Interval>& intervals) {
  return *std::max_element(
      intervals.begin(), intervals.end(),
      [](const Interval& a, const Interval& b) { return a.high - a.low < b.high - b.low; });
}

// Means of estimates [R, C] over the other axis.
std::vector<double> MeanOverClassifiers(const Array<double, 2>& estimates) {
  std::vector<double> means;
  for (std::int64_t r = 0; r < estimates.shape()[0]; ++r) {
    double sum = 0.0;
    for (const double x : estimates.Row(r)) sum += x;
    means.push_back(sum / static_cast<double>(estimates.shape()[1]));
  }
  return means;
}

std::vector<double> MeanOverRepetitions(const Array<double, 2>& estimates) {
  std::vector<double> means;
  for (std::int64_t c = 0; c < estimates.shape()[1]; ++c) {
    double sum = 0.0;
    for (std::int64_t r = 0; r < estimates.shape()[0]; ++r) sum += estimates(r, c);
    means.push_back(sum / static_cast<double>(estimates.shape()[0]));
  }
  return means;
}

// Makes the rows of one run; holds what they share.
class RowMaker {
 public:
  RowMaker(const EvaluationConfig& config, const RowLabels& labels,
           const EvaluationMeasurements& measured)
      : config_(config), measured_(measured), common_(CommonRow(config, labels, measured.truth)) {}

  JudgedRow PlainModel() const {
    JudgedRow judged{.key = {}, .row = common_, .evidence = PlainEvidence()};
    ResultRow& row = judged.row;
    row.estimator = kModelEstimator;
    row.horizon = 0;
    row.normalization = EnumName(WeightNormalization::kNone);
    SetValue(row, measured_.plain.value);
    row.standard_error = measured_.plain.standard_error;
    row.se_within = measured_.plain.se_within;

    std::vector<Interval> intervals = {
        MonteCarloInterval(measured_.plain.repetitions, config_.intervals.level)};
    if (measured_.member_values.size() > 1) {
      intervals.push_back(
          MemberInterval(measured_.plain.value, measured_.member_values, config_.intervals.level));
    }
    std::vector<double> replicates;
    for (const Replicate& replicate : measured_.pipeline_replicates) {
      replicates.push_back(replicate.plain.value);
    }
    AddBootstrap(replicates, IntervalMethod::kPipelineBootstrap, intervals);
    SetIntervals(judged, intervals);
    SetJudgement(judged, config_.verdict);
    return judged;
  }

  JudgedRow Lfiw(std::size_t sweep, std::size_t horizon) const {
    const EstimatorSweep& source = measured_.sweeps[sweep];
    const LfiwEstimate& estimate = source.result.horizons[horizon];
    const RowKey key{RowKind::kWeighted, static_cast<std::int64_t>(sweep), estimate.horizon};
    JudgedRow judged{.key = key, .row = common_, .evidence = LfiwEvidence(key, estimate)};
    ResultRow& row = judged.row;
    row.estimator = source.Name();
    row.params = source.Params();
    row.horizon = estimate.horizon;
    row.normalization = EnumName(source.options.normalization);
    row.classifier_set = fmt::format("{} bootstrap classifiers", source.result.classifiers);
    if (estimate.value) SetValue(row, *estimate.value);
    row.log10_value = estimate.log10_value;
    row.standard_error = estimate.standard_error;
    row.se_within = estimate.se_within;
    row.se_between = estimate.se_between;
    row.ess = estimate.ess;
    row.khat = estimate.khat;
    row.max_weight = estimate.max_weight;
    if (estimate.value) SetIntervals(judged, Intervals(sweep, horizon));
    SetJudgement(judged, config_.verdict);
    return judged;
  }

  JudgedRow DoublyRobust() const {
    const DoublyRobustMeasurement& source = *measured_.doubly_robust;
    const Estimate& estimate = source.chosen.estimate;
    JudgedRow judged{.key = {.kind = RowKind::kDoublyRobust},
                     .row = common_,
                     .evidence = DoublyRobustEvidence()};
    ResultRow& row = judged.row;
    row.estimator = kDoublyRobustLfiw;
    row.params = fmt::format("power={}", source.chosen.power);
    row.normalization = EnumName(WeightNormalization::kSelf);
    row.n = source.episodes;
    row.ess = estimate.ess;
    row.khat = estimate.khat;
    row.max_weight = estimate.max_weight;
    row.standard_error = estimate.standard_error;
    if (estimate.value) {
      SetValue(row, *estimate.value);
      if (source.interval.low && source.interval.high) {
        judged.plain_low = source.interval.low;
        judged.plain_high = source.interval.high;
        SetInterval(row,
                    CorrectionInterval(*source.interval.low, *source.interval.high, *estimate.value,
                                       Remaining(source.chosen), config_.intervals.level),
                    measured_.possible);
      }
    }
    SetJudgement(judged, config_.verdict);
    return judged;
  }

  JudgedRow Calibrated() const {
    const CalibratedModel& source = *measured_.calibrated;
    JudgedRow judged{
        .key = {.kind = RowKind::kCalibrated}, .row = common_, .evidence = CalibratedEvidence()};
    ResultRow& row = judged.row;
    row.estimator = kCalibratedModel;
    row.params = fmt::format("slope={:.3g}", source.slope);
    row.normalization = EnumName(WeightNormalization::kNone);
    SetValue(row, source.value);
    row.standard_error = source.standard_error;
    Interval interval = SpreadInterval(source.value, source.standard_error, source.degrees, "",
                                       config_.intervals.level);
    interval.method = IntervalMethod::kMembers;
    judged.plain_low = interval.low;
    judged.plain_high = interval.high;
    SetInterval(row, interval, measured_.possible);
    SetJudgement(judged, config_.verdict);
    return judged;
  }

  JudgedRow Named(const NamedMeasurement& source) const {
    const Estimate& estimate = source.estimate;
    JudgedRow judged{.key = {.kind = RowKind::kNamed, .name = source.name},
                     .row = common_,
                     .evidence = NamedEvidence(source)};
    ResultRow& row = judged.row;
    row.estimator = source.name;
    row.normalization = EnumName(WeightNormalization::kNone);
    row.n = source.episodes;
    row.ess = estimate.ess;
    row.khat = estimate.khat;
    row.max_weight = estimate.max_weight;
    row.standard_error = estimate.standard_error;
    if (estimate.value) {
      SetValue(row, *estimate.value);
      row.ci_low = judged.plain_low = source.interval.low;
      row.ci_high = judged.plain_high = source.interval.high;
      row.interval_method = EnumName(EpisodeIntervalMethod::kBca);
    }
    SetJudgement(judged, config_.verdict);
    return judged;
  }

 private:
  Evidence CalibratedEvidence() const {
    const CalibratedModel& source = *measured_.calibrated;
    Evidence evidence;
    AddShared(evidence);
    evidence.episodes = config_.rollout.episodes;
    evidence.value = source.value;
    evidence.disagreement = source.standard_error;
    evidence.clamp_rate = measured_.clamp_rate;
    // calibration takes small errors away; models that are far off are wrong of another kind
    evidence.back_test = BacktestOf({});
    evidence.open_loop = OpenLoop();
    return evidence;
  }

  // What is fitted to the log is judged where the policy goes, weights by what they leave.
  Evidence NamedEvidence(const NamedMeasurement& source) const {
    Evidence evidence;
    AddShared(evidence);
    evidence.influence = std::max(measured_.influence, source.influence);
    evidence.missing_value = source.estimate.value ? "" : source.estimate.reason;
    evidence.episodes = source.episodes;
    evidence.ess = source.estimate.ess;
    evidence.khat = source.estimate.khat;
    evidence.value = source.estimate.value;
    return evidence;
  }

  // Weights at full power see the model's error wherever the policy goes, no weights only where the
  // log is.
  RemainingError Remaining(const ChosenDoublyRobust& chosen) const {
    const std::vector<double>& members = measured_.member_values;
    const double spread = members.size() < 2 ? 0.0 : StandardDeviation(members);
    return {.path = chosen.remaining.value_or(0.0), .members = (1.0 - chosen.power) * spread};
  }

  // Its weights are mild by choice, so it is their number and not their tail that is judged.
  Evidence DoublyRobustEvidence() const {
    const DoublyRobustMeasurement& source = *measured_.doubly_robust;
    const Estimate& estimate = source.chosen.estimate;
    Evidence evidence;
    AddShared(evidence);
    evidence.influence = std::max(measured_.influence, source.influence);
    evidence.missing_value = estimate.value ? "" : estimate.reason;
    evidence.episodes = source.episodes;
    evidence.ess = estimate.ess;
    evidence.value = estimate.value;
    evidence.uncorrected = measured_.plain.value;
    const RemainingError remaining = Remaining(source.chosen);
    evidence.disagreement = std::hypot(0.5 * remaining.path, remaining.members);
    evidence.clamp_rate = measured_.clamp_rate;
    return evidence;
  }

  Evidence PlainEvidence() const {
    Evidence evidence;
    evidence.episodes = config_.rollout.episodes;
    evidence.value = measured_.plain.value;
    if (measured_.member_values.size() > 1) {
      evidence.disagreement = StandardDeviation(measured_.member_values);
    }
    evidence.model_auc = measured_.calibration.auc;
    AddCommon({}, evidence);
    return evidence;
  }

  // At H = 0 no weight is used, so only the model itself is judged.
  Evidence LfiwEvidence(const RowKey& key, const LfiwEstimate& estimate) const {
    Evidence evidence = EvidenceOf(estimate, config_.rollout.episodes);
    AddCommon(key, evidence);
    evidence.value = estimate.value;
    if (estimate.horizon == 0) {
      evidence.model_auc = measured_.calibration.auc;
      return evidence;
    }
    evidence.ece = measured_.calibration.ece;
    evidence.auc = measured_.calibration.auc;
    const auto used =
        std::min(static_cast<std::size_t>(estimate.horizon), measured_.mean_weights.size());
    evidence.mean_weight = WorstMeanWeight(std::span(measured_.mean_weights).first(used));
    evidence.improves = measured_.improvement;
    return evidence;
  }

  // Sets the widest of the intervals, and a wider one still where the row has a back-test.
  void SetIntervals(JudgedRow& judged, const std::vector<Interval>& intervals) const {
    const Interval& widest = Widest(intervals);
    judged.plain_low = Cell(widest.low);
    judged.plain_high = Cell(widest.high);
    const std::optional<Backtest> test = BacktestOf(judged.key);
    SetInterval(judged.row, test ? BacktestInterval(widest, *judged.row.value, *test) : widest,
                measured_.possible);
  }

  std::optional<Backtest> BacktestOf(const RowKey& key) const {
    const auto found = measured_.back_tests.find(key);
    return found == measured_.back_tests.end() ? std::nullopt : std::optional(found->second);
  }

  std::vector<Interval> Intervals(std::size_t sweep, std::size_t horizon) const {
    const EstimatorSweep& source = measured_.sweeps[sweep];
    const Array<double, 2>& estimates = source.result.horizons[horizon].estimates;
    std::vector<Interval> intervals = {
        MonteCarloInterval(MeanOverClassifiers(estimates), config_.intervals.level)};
    // the classifiers are bootstrap replicates themselves unless more were asked for
    const Array<double, 2>& replicates =
        measured_.classifier_replicates.empty()
            ? estimates
            : measured_.classifier_replicates[sweep].result.horizons[horizon].estimates;
    AddBootstrap(MeanOverRepetitions(replicates), IntervalMethod::kClassifierBootstrap, intervals);

    std::vector<double> pipeline;
    for (const Replicate& replicate : measured_.pipeline_replicates) {
      const LfiwEstimate& estimate = replicate.sweeps[sweep].result.horizons[horizon];
      if (estimate.value) pipeline.push_back(*estimate.value);
    }
    AddBootstrap(pipeline, IntervalMethod::kPipelineBootstrap, intervals);
    return intervals;
  }

  void AddBootstrap(const std::vector<double>& estimates, IntervalMethod method,
                    std::vector<Interval>& intervals) const {
    if (estimates.size() < 2) return;
    intervals.push_back(BootstrapInterval(estimates, method, config_.intervals.level));
  }

  // What every row is judged by, however it is made.
  void AddShared(Evidence& evidence) const {
    evidence.log_error = measured_.log_error;
    evidence.log_warning = measured_.log_warning;
    evidence.influence = measured_.influence;
    evidence.spread = measured_.spread;
    evidence.support = measured_.support;
    evidence.possible = measured_.possible;
    evidence.seen = measured_.seen;
    evidence.reach = measured_.reach;
  }

  // Adds what rows with and without weights have in common.
  void AddCommon(const RowKey& key, Evidence& evidence) const {
    AddShared(evidence);
    evidence.clamp_rate = measured_.clamp_rate;
    evidence.back_test = BacktestOf(key);
    evidence.open_loop = OpenLoop();
  }

  // Where small differences grow, as in tasks of balance, predictions part from a logged episode
  // though returns are right. So the open loop is judged only where the model's return under the
  // logged policy does not speak for it.
  std::optional<double> OpenLoop() const {
    const std::optional<Backtest> model = BacktestOf({});
    const bool right = model && model->ExcessShare() <= config_.verdict.back_test.caution;
    return right ? std::nullopt : measured_.open_loop;
  }

  const EvaluationConfig& config_;
  const EvaluationMeasurements& measured_;
  ResultRow common_;
};

}  // namespace

std::string EstimatorSweep::Name() const {
  return fmt::format("lfiw_{}", EnumName(options.variant));
}

std::string EstimatorSweep::Params() const {
  return fmt::format("alpha={} beta={} average={}", options.alpha, options.beta,
                     EnumName(options.average));
}

std::string EstimatorSweep::Label() const {
  const LfiwOptions paper;
  std::string label(EnumName(options.variant));
  if (options.normalization != paper.normalization) label += " unnormalized";
  if (options.alpha != paper.alpha) label += fmt::format(" alpha={}", options.alpha);
  if (options.beta != paper.beta) label += fmt::format(" beta={}", options.beta);
  if (options.average != paper.average) label += fmt::format(" {}", EnumName(options.average));
  return label;
}

std::vector<EstimatorSweep> RunEstimatorGrid(const EstimatorGrid& grid,
                                             const ModelRollouts& rollouts,
                                             const ValueOptions& value) {
  std::vector<EstimatorSweep> sweeps;
  for (const LfiwVariant variant : grid.variants) {
    for (const WeightNormalization normalization : grid.normalizations) {
      for (const double alpha : grid.alphas) {
        for (const double beta : grid.betas) {
          for (const ClassifierAverage average : grid.averages) {
            LfiwOptions options;
            options.variant = variant;
            options.normalization = normalization;
            options.alpha = alpha;
            options.beta = beta;
            options.average = average;
            sweeps.push_back(
                {options, EstimateLfiw(rollouts.rewards, rollouts.log_weights, value, options)});
          }
        }
      }
    }
  }
  return sweeps;
}

std::vector<JudgedRow> MakeRows(const EvaluationConfig& config, const RowLabels& labels,
                                const EvaluationMeasurements& measured) {
  const RowMaker maker(config, labels, measured);
  std::vector<JudgedRow> rows = {maker.PlainModel()};
  for (std::size_t s = 0; s < measured.sweeps.size(); ++s) {
    for (std::size_t h = 0; h < measured.sweeps[s].result.horizons.size(); ++h) {
      rows.push_back(maker.Lfiw(s, h));
    }
  }
  if (measured.doubly_robust) rows.push_back(maker.DoublyRobust());
  if (measured.calibrated) rows.push_back(maker.Calibrated());
  for (const NamedMeasurement& named : measured.named) rows.push_back(maker.Named(named));
  return rows;
}

const JudgedRow& FindRow(const RowKey& key, std::span<const JudgedRow> rows) {
  const auto found = std::ranges::find(rows, key, &JudgedRow::key);
  LFIW_ASSERT(found != rows.end());
  return *found;
}

Headline ChooseHeadline(const EvaluationMeasurements& measured) {
  if (measured.calibrated) {
    const CalibratedModel& model = *measured.calibrated;
    return {
        {.kind = RowKind::kCalibrated},
        fmt::format("models that the log could have come from give {:.4g} on average and {:.4g} "
                    "to the logged policy, which is worth {:.4g}: what they have in common moves "
                    "the answer by {:+.3g}",
                    model.mean, model.logged_mean, model.logged, model.value - model.mean)};
  }
  if (measured.doubly_robust && measured.doubly_robust->chosen.estimate.value) {
    const ChosenDoublyRobust& chosen = measured.doubly_robust->chosen;
    return {{.kind = RowKind::kDoublyRobust},
            fmt::format("dr_lfiw corrects the model's {:.4g} to {:.4g} by what the log holds, with "
                        "weights to the power {:g}",
                        measured.plain.value, *chosen.estimate.value, chosen.power)};
  }
  return ChooseRolloutHeadline(measured);
}

Headline ChooseRolloutHeadline(const EvaluationMeasurements& measured) {
  const EstimatorSweep& first = measured.sweeps.front();
  const std::int64_t horizon = LargestReliableHorizon(first.result);
  const double threshold = KhatThreshold(first.result.episodes);
  if (horizon == 0) {
    return {{},
            fmt::format("the weights of {} have k-hat above {:.2f} already at H = 1, so the plain "
                        "model is stated first",
                        first.Name(), threshold)};
  }
  return {{RowKind::kWeighted, 0, horizon},
          fmt::format("H = {} is the largest truncation of {} up to which k-hat stays below {:.2f}",
                      horizon, first.Name(), threshold)};
}

}  // namespace lfiw::experiments
