#include "ope/rollouts/lfiw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/means.h"
#include "ope/rollouts/lfiw_sweep.h"

namespace lfiw::ope {
namespace {

// No density ratio is larger; sums of such log-weights stay far inside the range of double.
constexpr double kLargestLogWeight = 1e100;

void CheckShapes(const Array<double, 3>& rewards, const Array<double, 4>& log_weights,
                 const LfiwOptions& options) {
  const auto& [repetitions, n, steps] = rewards.shape();
  const auto& [r, c, i, t] = log_weights.shape();
  if (r != repetitions || i != n || t != steps) {
    Throw<DataError>(
        "lfiw: log-weights [R, C, n, T] = [{}, {}, {}, {}] do not fit rewards "
        "[R, n, T] = [{}, {}, {}]",
        r, c, i, t, repetitions, n, steps);
  }
  if (repetitions < 1 || c < 1 || n < 1 || steps < 1) {
    Throw<DataError>("lfiw: log-weights [R, C, n, T] = [{}, {}, {}, {}]: each must be at least 1",
                     r, c, i, t);
  }
  if (options.average == ClassifierAverage::kDiagonal && r != c) {
    Throw<ConfigError>(
        "lfiw.average: diagonal pairs each of {} repetitions with one of {} "
        "classifiers; the numbers must be equal",
        r, c);
  }
}

void CheckOptions(const LfiwOptions& options, std::int64_t steps) {
  if (!(options.alpha >= 0.0 && options.alpha <= LfiwOptions::kMaxAlpha)) {
    Throw<ConfigError>("lfiw.alpha: {} is not in [0, {}]", options.alpha, LfiwOptions::kMaxAlpha);
  }
  if (!(options.beta >= 0.0) || !std::isfinite(options.beta)) {
    Throw<ConfigError>("lfiw.beta: {} is not a number of at least 0", options.beta);
  }
  if (options.smoothing == WeightSmoothing::kPareto &&
      options.variant == LfiwVariant::kStepwiseBatch) {
    Throw<ConfigError>(
        "lfiw.smoothing: pareto smooths the weights of one step or trajectory and "
        "does not apply to stepwise_batch");
  }
  for (const std::int64_t horizon : options.khat_horizons) {
    if (horizon < 0 || horizon > steps) {
      Throw<ConfigError>("lfiw.khat_horizons: {} is not in 0 .. {}", horizon, steps);
    }
  }
}

void CheckNumbers(const Array<double, 3>& rewards, const Array<double, 4>& log_weights) {
  const auto& [repetitions, classifiers, n, steps] = log_weights.shape();
  for (std::int64_t k = 0; k < rewards.size(); ++k) {
    const double value = rewards.flat()[static_cast<std::size_t>(k)];
    if (!std::isfinite(value)) {
      Throw<DataError>("lfiw: reward {} at repetition {}, episode {}, step {} is not finite", value,
                       k / steps / n, k / steps % n, k % steps);
    }
  }
  for (std::int64_t k = 0; k < log_weights.size(); ++k) {
    const double value = log_weights.flat()[static_cast<std::size_t>(k)];
    if (!(std::abs(value) <= kLargestLogWeight || value == -HUGE_VAL)) {
      Throw<DataError>(
          "lfiw: log-weight {} at repetition {}, classifier {}, episode {}, step {}: expected a "
          "finite number or -inf",
          value, k / steps / n / classifiers, k / steps / n % classifiers, k / steps % n,
          k % steps);
    }
  }
}

// Log-weights of repetition r under classifier c as [T, n].
Array<double, 2> StepMajor(const Array<double, 4>& log_weights, std::int64_t r, std::int64_t c) {
  const std::int64_t n = log_weights.shape()[2], steps = log_weights.shape()[3];
  Array<double, 2> result({steps, n});
  for (std::int64_t i = 0; i < n; ++i) {
    const std::span<const double> row = log_weights.Row(r, c, i);
    for (std::int64_t t = 0; t < steps; ++t) result(t, i) = row[static_cast<std::size_t>(t)];
  }
  return result;
}

// The mean over classifiers of the log-weights of repetition r, [T, n].
Array<double, 2> MeanStepMajor(const Array<double, 4>& log_weights, std::int64_t r) {
  const std::int64_t classifiers = log_weights.shape()[1];
  Array<double, 2> mean = StepMajor(log_weights, r, 0);
  for (std::int64_t c = 1; c < classifiers; ++c) {
    const Array<double, 2> other = StepMajor(log_weights, r, c);
    for (std::size_t k = 0; k < mean.flat().size(); ++k) mean.flat()[k] += other.flat()[k];
  }
  for (double& value : mean.flat()) value /= static_cast<double>(classifiers);
  return mean;
}

// The horizons of every repetition and column: columns are classifiers whose estimates are
// averaged, else there is one.
using Sweeps = Array<std::vector<SweepPoint>, 2>;

Sweeps SweepAll(const Array<double, 3>& rewards, const Array<double, 4>& log_weights,
                std::span<const double> factors, const LfiwOptions& options) {
  const std::int64_t repetitions = log_weights.shape()[0];
  const bool separate = options.average == ClassifierAverage::kEstimates;
  Sweeps sweeps({repetitions, separate ? log_weights.shape()[1] : 1});
  for (std::int64_t r = 0; r < repetitions; ++r) {
    const StepOutcomes outcomes = MakeStepOutcomes(rewards, r, factors);
    for (std::int64_t c = 0; c < sweeps.shape()[1]; ++c) {
      const Array<double, 2> weights = options.average == ClassifierAverage::kLogWeights
                                           ? MeanStepMajor(log_weights, r)
                                           : StepMajor(log_weights, r, separate ? c : r);
      sweeps(r, c) = SweepHorizons(outcomes, weights, options);
    }
  }
  return sweeps;
}

std::optional<double> IfFinite(double value) {
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

// log10 of the magnitude of the mean, and its sign, from numbers that double cannot hold.
std::pair<double, double> Log10Mean(std::span<const SweepPoint* const> points) {
  double unit = points[0]->log_scale;
  for (const SweepPoint* point : points) unit = std::max(unit, point->log_scale);
  double sum = 0.0;
  for (const SweepPoint* point : points) sum += point->mantissa * std::exp(point->log_scale - unit);
  const double mean = sum / static_cast<double>(points.size());
  return {(unit + std::log(std::abs(mean))) / std::numbers::ln10, mean};
}

// Fills value and standard errors from finite estimates [R, C]; false when their mean is not.
bool AverageEstimates(const Array<double, 2>& estimates, LfiwEstimate& result) {
  const std::int64_t repetitions = estimates.shape()[0], columns = estimates.shape()[1];
  std::vector<double> by_repetition, by_classifier, column;
  for (std::int64_t r = 0; r < repetitions; ++r) {
    by_repetition.push_back(MeanFromFirst(estimates.Row(r)));
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    column.clear();
    for (std::int64_t r = 0; r < repetitions; ++r) column.push_back(estimates(r, c));
    by_classifier.push_back(Mean(column));
  }
  const double value = Mean(by_repetition);
  if (!std::isfinite(value)) return false;
  result.value = value;
  result.standard_error = MeanError(by_repetition);
  result.se_between = MeanError(by_classifier);
  return true;
}

// Value, magnitude and standard errors of one horizon; every point has support.
void FillValue(std::span<const SweepPoint* const> points, std::int64_t repetitions,
               LfiwEstimate& result) {
  Array<double, 2> estimates({repetitions, static_cast<std::int64_t>(points.size()) / repetitions});
  std::vector<double> within;
  bool finite = true;
  for (const SweepPoint* point : points) {
    if (!std::isfinite(point->mantissa)) {
      result.reason = "the sum of rewards is not finite in double";
      return;
    }
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double unit = std::exp(points[k]->log_scale);
    const double mantissa = points[k]->mantissa;
    // 0 times an overflowing unit would be NaN
    estimates.flat()[k] = mantissa == 0.0 ? 0.0 : mantissa * unit;
    finite = finite && std::isfinite(estimates.flat()[k]);
    within.push_back(points[k]->se_mantissa == 0.0 ? 0.0 : points[k]->se_mantissa * unit);
  }
  if (finite && AverageEstimates(estimates, result)) {
    result.se_within = IfFinite(RootMeanSquare(within));
    result.estimates = std::move(estimates);
    const auto [log10, mean] = Log10Mean(points);
    if (*result.value == 0.0 && mean != 0.0) result.log10_value = log10;
    return;
  }
  const auto [log10, mean] = Log10Mean(points);
  if (mean != 0.0) result.log10_value = log10;
  result.reason = fmt::format("not finite in double: {}10^{:.2f}", mean < 0.0 ? "-" : "", log10);
}

// Weights that one estimate at this horizon uses.
std::int64_t WeightsUsed(LfiwVariant variant, std::int64_t episodes, std::int64_t horizon) {
  if (variant == LfiwVariant::kTrajectory) return horizon > 0 ? episodes : 0;
  return episodes * horizon;
}

void FillKhat(std::span<const SweepPoint* const> points, bool wanted, LfiwEstimate& result) {
  if (!wanted) {
    result.khat_reason = "not requested at this horizon";
    return;
  }
  for (const SweepPoint* point : points) {
    const std::optional<double>& khat = point->tail.khat;
    if (khat && (!result.khat || *khat > *result.khat)) result.khat = khat;
  }
  if (!result.khat) {
    result.khat_reason =
        result.horizon == 0 ? "H = 0 uses no weights" : TailReason(points.front()->tail.status);
  }
}

LfiwEstimate Summarize(const Sweeps& sweeps, std::int64_t horizon, std::int64_t episodes,
                       const LfiwOptions& options) {
  LfiwEstimate result;
  result.horizon = horizon;
  std::vector<const SweepPoint*> points;
  for (const std::vector<SweepPoint>& sweep : sweeps.flat()) {
    points.push_back(&sweep[static_cast<std::size_t>(horizon)]);
  }
  const std::int64_t columns = sweeps.shape()[1];
  for (std::size_t k = 0; k < points.size(); ++k) {
    const SweepPoint& point = *points[k];
    result.ess += point.ess;
    result.max_weight = std::max(result.max_weight, point.max_weight);
    result.clipped += point.clipped;
    if (!point.supported && result.reason.empty()) {
      const auto index = static_cast<std::int64_t>(k);
      result.reason = fmt::format("no support: all weights of repetition {}, classifier {} are 0",
                                  index / columns, index % columns);
    }
  }
  const auto count = static_cast<double>(points.size());
  result.ess /= count;
  const std::int64_t used = WeightsUsed(options.variant, episodes, horizon);
  if (used > 0) {
    result.clip_rate = static_cast<double>(result.clipped) / (static_cast<double>(used) * count);
  }
  const bool wanted =
      options.khat == KhatHorizons::kAll ||
      std::count(options.khat_horizons.begin(), options.khat_horizons.end(), horizon) > 0;
  if (!result.reason.empty()) {
    result.khat_reason = "no support";
    return result;
  }
  FillKhat(points, wanted, result);
  FillValue(points, sweeps.shape()[0], result);
  return result;
}

}  // namespace

LfiwResult EstimateLfiw(const Array<double, 3>& rewards, const Array<double, 4>& log_weights,
                        const ValueOptions& value, const LfiwOptions& options) {
  const std::int64_t steps = rewards.shape()[2];
  CheckShapes(rewards, log_weights, options);
  CheckOptions(options, steps);
  CheckNumbers(rewards, log_weights);
  const std::vector<double> factors = StepFactors(value, steps);
  const Sweeps sweeps = SweepAll(rewards, log_weights, factors, options);

  LfiwResult result{.repetitions = log_weights.shape()[0],
                    .classifiers = log_weights.shape()[1],
                    .episodes = log_weights.shape()[2],
                    .horizons = {}};
  for (std::int64_t horizon = 0; horizon <= steps; ++horizon) {
    result.horizons.push_back(Summarize(sweeps, horizon, result.episodes, options));
  }
  return result;
}

}  // namespace lfiw::ope
