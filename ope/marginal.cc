#include "ope/marginal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ope/log_weights.h"
#include "ope/psis.h"
#include "ope/value.h"

namespace lfiw {
namespace {

// The logged steps' weights, and how many are negative.
struct Weights {
  Array<double, 2> w;  // [n, T], 0 after the end of an episode
  std::int64_t negative = 0;
  std::int64_t count = 0;
};

Weights WeightsOf(const EstimatorInputs& in, const std::string& name) {
  Weights out{.w = Array<double, 2>({in.episodes(), in.steps()})};
  const auto signed_weights = in.weights.find(name);
  for (std::int64_t i = 0; i < in.episodes(); ++i) {
    for (std::int64_t t = 0; t < in.lengths[static_cast<std::size_t>(i)]; ++t) {
      out.w(i, t) = signed_weights != in.weights.end() ? signed_weights->second(i, t)
                                                       : std::exp(in.log_ratios.at(name)(i, t));
      out.negative += out.w(i, t) < 0.0 ? 1 : 0;
      ++out.count;
    }
  }
  return out;
}

// Numerators, and the weights to divide by: [n, K].
struct Sums {
  Array<double, 2> rewards, weights;
  std::vector<double> counts;  // [K], what the weights add up to when exact
};

Sums FiniteSums(const EstimatorInputs& in, const Estimand& estimand, const Array<double, 2>& w) {
  const std::vector<double> factors = StepFactors(estimand, in.steps());
  Sums out{w, w, std::vector<double>(factors.size(), static_cast<double>(in.episodes()))};
  for (std::int64_t i = 0; i < in.episodes(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::int64_t length = in.lengths[row];
    for (std::int64_t t = 0; t < in.steps(); ++t) {
      out.rewards(i, t) = factors[static_cast<std::size_t>(t)] * w(i, t) * in.rewards(i, t);
      if (t >= length && in.terminated[row] != 0) out.weights(i, t) = w(i, length - 1);
    }
  }
  return out;
}

Sums InfiniteSums(const EstimatorInputs& in, const Estimand& estimand, const Array<double, 2>& w) {
  const std::int64_t n = in.episodes();
  const double left = 1.0 / (1.0 - estimand.discount);
  const double factor = estimand.scale == ValueScale::kSum ? left : 1.0;
  Sums out{Array<double, 2>({n, 1}), Array<double, 2>({n, 1}), {0.0}};
  for (std::int64_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t t = 0; t < in.lengths[row]; ++t) {
      const bool terminal = in.terminated[row] != 0 && t + 1 == in.lengths[row];
      out.rewards(i, 0) += factor * w(i, t) * in.rewards(i, t);
      out.weights(i, 0) += w(i, t) * (terminal ? left : 1.0);
    }
    out.counts[0] += static_cast<double>(in.lengths[row]);
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

void AddDiagnostics(const Sums& sums, const Weights& weights, Estimate& out) {
  const auto columns = static_cast<double>(sums.counts.size());
  double mean = 0.0, ess = 0.0, low = std::numeric_limits<double>::infinity(), high = -low;
  out.max_weight = 0.0;
  for (std::int64_t k = 0; k < std::ssize(sums.counts); ++k) {
    const ColumnDiagnostics at =
        Diagnose(sums.weights, k, sums.counts[static_cast<std::size_t>(k)]);
    mean += at.mean / columns;
    ess += at.ess / columns;
    low = std::min(low, at.mean);
    high = std::max(high, at.mean);
    out.max_weight = std::max(*out.max_weight, at.max_weight);
    if (at.khat) out.khat = std::max(out.khat.value_or(*at.khat), *at.khat);
  }
  out.ess = ess;
  out.notes.push_back(columns == 1.0
                          ? fmt::format("mean weight {:.3g}, expected 1", mean)
                          : fmt::format("mean weight {:.3g}, between {:.3g} and {:.3g} over steps, "
                                        "expected 1",
                                        mean, low, high));
  if (weights.negative > 0) {
    out.notes.push_back(fmt::format(
        "{:.1f} % of the weights are negative",
        100.0 * static_cast<double>(weights.negative) / static_cast<double>(weights.count)));
  }
}

// Columns add up to one where all are divided by n.
EpisodeTerms PlainTerms(const Sums& sums, const EstimatorInputs& in, const Estimand& estimand) {
  const std::int64_t n = in.episodes();
  EpisodeTerms out{Array<double, 2>({n, 1}), Array<double, 2>({n, estimand.horizon ? 0 : 1})};
  for (std::int64_t i = 0; i < n; ++i) {
    for (const double value : sums.rewards.Row(i)) out.numerators(i, 0) += value;
    if (!estimand.horizon) {
      out.denominators(i, 0) = static_cast<double>(in.lengths[static_cast<std::size_t>(i)]);
    }
  }
  return out;
}

Estimator MarginalEstimator(std::string name, std::string source) {
  const MarginalOptions options{.weights = name};
  return {.name = name,
          .summary = "rewards weighted by marginal ratios, " + std::move(source),
          .horizons = HorizonSupport::kBoth,
          .needs = {name},
          .estimate = [options](const EstimatorInputs& inputs, const Estimand& estimand) {
            return EstimateMarginal(inputs, estimand, options);
          }};
}

}  // namespace

Estimate EstimateMarginal(const EstimatorInputs& inputs, const Estimand& estimand,
                          const MarginalOptions& options) {
  if (const std::optional<std::int64_t> step = UnreachedStep(inputs, estimand)) {
    return Refuse(
        fmt::format("no support: time limits cut all that goes on before step {} of the horizon {}",
                    *step, *estimand.horizon));
  }
  const Weights weights = WeightsOf(inputs, options.weights);
  Sums sums = estimand.horizon ? FiniteSums(inputs, estimand, weights.w)
                               : InfiniteSums(inputs, estimand, weights.w);
  Estimate out;
  AddDiagnostics(sums, weights, out);
  if (options.normalization == WeightNormalization::kSelf) {
    out.terms = {std::move(sums.rewards), std::move(sums.weights)};
  } else {
    out.terms = PlainTerms(sums, inputs, estimand);
  }
  return out;
}

std::vector<Estimator> MarginalEstimators() {
  return {MarginalEstimator("mwl", "MWL with random Fourier features (Uehara et al. 2020)"),
          MarginalEstimator("dual_dice", "DualDICE (Nachum et al. 2019)"),
          MarginalEstimator("gen_dice", "GenDICE (Zhang et al. 2020)")};
}

}  // namespace lfiw
