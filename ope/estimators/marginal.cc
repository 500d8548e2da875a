#include "ope/estimators/marginal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ope/judgement/psis.h"
#include "ope/rollouts/log_weights.h"
#include "ope/value.h"

namespace lfiw::ope {
namespace {

// exp() and sums of such numbers stay inside double while logarithms do within this.
constexpr double kPlainLogRange = 300.0;

// The logged steps' weights, of which those of column t are in units of exp(unit[t]).
class Weights {
 public:
  Weights(const EstimatorInputs& in, const std::string& name, HorizonSupport horizon)
      : in_(in), units_(static_cast<std::size_t>(in.steps())) {
    const auto signed_weights = in.weights.find(name);
    if (signed_weights != in.weights.end()) {
      signed_ = &signed_weights->second;
    } else {
      logs_ = &in.log_ratios.at(name);
      ChooseUnits(horizon);
    }
    for (std::int64_t i = 0; i < in.episodes(); ++i) {
      for (std::int64_t t = 0; t < Length(i); ++t, ++count_) negative_ += At(i, t, t) < 0.0;
    }
  }

  // The weight of step `step` of episode i, among those of column t.
  double At(std::int64_t i, std::int64_t step, std::int64_t t) const {
    if (signed_ != nullptr) return (*signed_)(i, step);
    return std::exp((*logs_)(i, step) - units_[static_cast<std::size_t>(t)]);
  }
  std::int64_t Length(std::int64_t i) const { return in_.lengths[static_cast<std::size_t>(i)]; }
  bool Terminated(std::int64_t i) const { return in_.terminated[static_cast<std::size_t>(i)] != 0; }
  const std::vector<double>& units() const { return units_; }
  double negative_share() const {
    return static_cast<double>(negative_) / static_cast<double>(count_);
  }

 private:
  // The largest logarithm of each column, or of all in one sum; 0 where plain weights will do.
  void ChooseUnits(HorizonSupport horizon) {
    std::ranges::fill(units_, -std::numeric_limits<double>::infinity());
    for (std::int64_t i = 0; i < in_.episodes(); ++i) {
      const std::int64_t last = Terminated(i) ? in_.steps() : Length(i);
      for (std::int64_t t = 0; t < last; ++t) {
        double& unit = units_[static_cast<std::size_t>(t)];
        unit = std::max(unit, (*logs_)(i, std::min(t, Length(i) - 1)));
      }
    }
    if (horizon == HorizonSupport::kInfinite) {
      std::ranges::fill(units_, *std::ranges::max_element(units_));
    }
    for (double& unit : units_) {
      if (std::abs(unit) <= kPlainLogRange || std::isinf(unit)) unit = 0.0;
    }
  }

  const EstimatorInputs& in_;
  const Array<double, 2>* signed_ = nullptr;
  const Array<double, 2>* logs_ = nullptr;
  std::vector<double> units_;  // [T]
  std::int64_t negative_ = 0;
  std::int64_t count_ = 0;
};

// Numerators, and the weights to divide by: [n, K].
struct Sums {
  Array<double, 2> rewards, weights;
  std::vector<double> counts;  // [K], what the weights add up to when exact
};

Sums FiniteSums(const EstimatorInputs& in, const Estimand& estimand, const Weights& w) {
  const std::vector<double> factors = StepFactors(estimand, in.steps());
  const Array<double, 2> none(in.rewards.shape());
  Sums out{none, none, std::vector<double>(factors.size(), static_cast<double>(in.episodes()))};
  for (std::int64_t i = 0; i < in.episodes(); ++i) {
    const std::int64_t length = w.Length(i);
    for (std::int64_t t = 0; t < in.steps(); ++t) {
      if (t < length) {
        out.weights(i, t) = w.At(i, t, t);
        out.rewards(i, t) =
            factors[static_cast<std::size_t>(t)] * out.weights(i, t) * in.rewards(i, t);
      } else if (w.Terminated(i)) {
        out.weights(i, t) = w.At(i, length - 1, t);
      }
    }
  }
  return out;
}

Sums InfiniteSums(const EstimatorInputs& in, const Estimand& estimand, const Weights& w) {
  const std::int64_t n = in.episodes();
  const double left = 1.0 / (1.0 - estimand.discount);
  const double factor = estimand.scale == ValueScale::kSum ? left : 1.0;
  Sums out{Array<double, 2>({n, 1}), Array<double, 2>({n, 1}), {0.0}};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t t = 0; t < w.Length(i); ++t) {
      const bool terminal = w.Terminated(i) && t + 1 == w.Length(i);
      const double weight = w.At(i, t, t);
      out.rewards(i, 0) += factor * weight * in.rewards(i, t);
      out.weights(i, 0) += weight * (terminal ? left : 1.0);
    }
    out.counts[0] += static_cast<double>(w.Length(i));
  }
  return out;
}

// The first step that no episode reaches, unless all have terminated before it.
std::optional<std::int64_t> UnreachedStep(const EstimatorInputs& in, const Estimand& estimand) {
  const auto ended = [](std::uint8_t terminated) { return terminated != 0; };
  if (!estimand.horizon || std::ranges::all_of(in.terminated, ended)) return {};
  const std::int64_t longest = *std::ranges::max_element(in.lengths);
  return longest < *estimand.horizon ? std::optional(longest) : std::nullopt;
}

// Of one column's weights.
struct ColumnDiagnostics {
  double mean = 0.0, ess = 0.0, max_weight = 0.0;
  std::optional<double> khat;
};

ColumnDiagnostics Diagnose(const Array<double, 2>& weights, std::int64_t column, double count) {
  ColumnDiagnostics out;
  double sum = 0.0, squares = 0.0, largest = 0.0;
  std::vector<double> logs;
  for (std::int64_t i = 0; i < weights.shape()[0]; ++i) {
    const double w = weights(i, column);
    sum += w;
    squares += w * w;
    largest = std::max(largest, w);
    logs.push_back(w > 0.0 ? std::log(w) : -std::numeric_limits<double>::infinity());
  }
  out.mean = sum / count;
  if (!(sum > 0.0)) return out;
  out.ess = EffectiveSampleSize(sum, squares, weights.shape()[0]);
  out.max_weight = std::min(1.0, largest / sum);
  out.khat = FitTail(logs).khat;
  return out;
}

// A mean weight in units of exp(unit), at most what double holds.
double PlainMean(double mean, double unit) {
  if (unit == 0.0 || mean == 0.0) return mean;
  return std::min(std::numeric_limits<double>::max(), mean * std::exp(unit));
}

void AddDiagnostics(const Sums& sums, const Weights& weights, Estimate& out) {
  const auto columns = static_cast<double>(sums.counts.size());
  double mean = 0.0, ess = 0.0, low = std::numeric_limits<double>::infinity(), high = -low;
  out.max_weight = 0.0;
  for (std::int64_t k = 0; k < std::ssize(sums.counts); ++k) {
    const ColumnDiagnostics at =
        Diagnose(sums.weights, k, sums.counts[static_cast<std::size_t>(k)]);
    const double column_mean = PlainMean(at.mean, weights.units()[static_cast<std::size_t>(k)]);
    mean += column_mean / columns;
    ess += at.ess / columns;
    low = std::min(low, column_mean);
    high = std::max(high, column_mean);
    out.max_weight = std::max(*out.max_weight, at.max_weight);
    if (at.khat) out.khat = std::max(out.khat.value_or(*at.khat), *at.khat);
  }
  out.ess = ess;
  out.notes.push_back(columns == 1.0
                          ? fmt::format("mean weight {:.3g}, expected 1", mean)
                          : fmt::format("mean weight {:.3g}, between {:.3g} and {:.3g} over steps, "
                                        "expected 1",
                                        mean, low, high));
  if (weights.negative_share() > 0.0) {
    out.notes.push_back(
        fmt::format("{:.1f} % of the weights are negative", 100.0 * weights.negative_share()));
  }
}

// Columns add up to one where all are divided by n.
EpisodeTerms PlainTerms(const Sums& sums, const Weights& weights, const EstimatorInputs& in,
                        const Estimand& estimand) {
  const std::int64_t n = in.episodes();
  EpisodeTerms out{Array<double, 2>({n, 1}), Array<double, 2>({n, estimand.horizon ? 0 : 1})};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < std::ssize(sums.counts); ++k) {
      if (sums.rewards(i, k) == 0.0) continue;
      out.numerators(i, 0) +=
          sums.rewards(i, k) * std::exp(weights.units()[static_cast<std::size_t>(k)]);
    }
    if (!estimand.horizon) {
      out.denominators(i, 0) = static_cast<double>(in.lengths[static_cast<std::size_t>(i)]);
    }
  }
  return out;
}

Estimator MarginalEstimator(const std::string& name, const std::string& source) {
  return Configurable<MarginalOptions>(
      {.weights = name}, [name, source](const MarginalOptions& options) -> Estimator {
        return {.name = name,
                .summary = "rewards weighted by marginal ratios, " + source,
                .horizons = HorizonSupport::kBoth,
                .needs = {options.weights},
                .estimate = [options](const EstimatorInputs& inputs, const Estimand& estimand) {
                  return EstimateMarginal(inputs, estimand, options);
                }};
      });
}

}  // namespace

Estimate EstimateMarginal(const EstimatorInputs& inputs, const Estimand& estimand,
                          const MarginalOptions& options) {
  if (const std::optional<std::int64_t> step = UnreachedStep(inputs, estimand)) {
    return Refuse(
        fmt::format("no support: time limits cut all that goes on before step {} of the horizon {}",
                    *step, *estimand.horizon));
  }
  if (!estimand.horizon && estimand.discount >= 1.0) {
    return Refuse("over an infinite horizon marginal weights need a value.discount below 1");
  }
  const Weights weights(inputs, options.weights,
                        estimand.horizon ? HorizonSupport::kFinite : HorizonSupport::kInfinite);
  Sums sums = estimand.horizon ? FiniteSums(inputs, estimand, weights)
                               : InfiniteSums(inputs, estimand, weights);
  Estimate out;
  AddDiagnostics(sums, weights, out);
  if (options.normalization == WeightNormalization::kSelf) {
    out.terms = {std::move(sums.rewards), std::move(sums.weights)};
  } else {
    out.terms = PlainTerms(sums, weights, inputs, estimand);
  }
  return out;
}

std::vector<Estimator> MarginalEstimators() {
  return {MarginalEstimator("mwl", "MWL with random Fourier features (Uehara et al. 2020)"),
          MarginalEstimator("dual_dice", "DualDICE (Nachum et al. 2019)"),
          MarginalEstimator("gen_dice", "GenDICE (Zhang et al. 2020)")};
}

}  // namespace lfiw::ope
