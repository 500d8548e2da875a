#include "ope/estimators/importance_weights.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/judgement/psis.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::ope {
namespace {

constexpr double kNoWeight = -std::numeric_limits<double>::infinity();
// No density ratio is larger; sums of such logarithms stay far inside the range of double.
constexpr double kLargestLogRatio = 1e100;
// Plain weights are formed as they are while the largest of each step lies within exp(+-300).
constexpr double kPlainLogRange = 300.0;
// exp() leaves the normal numbers beyond.
constexpr double kLogRange = 700.0;
constexpr double kSmallestWeight = 1e-304;  // exp(-700)

using Matrix = Array<double, 2>;
using Map = Eigen::Map<Eigen::ArrayXd>;
using ConstMap = Eigen::Map<const Eigen::ArrayXd>;

ConstMap AsArray(std::span<const double> values) { return {values.data(), std::ssize(values)}; }
Map AsArray(std::span<double> values) { return {values.data(), std::ssize(values)}; }

// out <- exp(logs - units), exactly 0 where that is no normal number. `scratch` is memory whose
// alignment is always the same: which values go through the vectorized exp, and so their last bits,
// would otherwise depend on where `out` lies.
void ExpRelative(std::span<const double> logs, const Eigen::ArrayXd& units, std::span<double> out,
                 Eigen::ArrayXd& scratch) {
  scratch = (AsArray(logs) - units).max(-kLogRange - 1.0).exp();
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double weight = scratch[static_cast<Eigen::Index>(k)];
    out[k] = weight < kSmallestWeight ? 0.0 : weight;
  }
}

// The ratios of one step within their limits; counts what it moves.
class RatioClip {
 public:
  explicit RatioClip(const RatioOptions& options)
      : low_(options.min_log_ratio.value_or(kNoWeight)),
        high_(options.max_log_ratio.value_or(-kNoWeight)),
        max_log_weight_(options.max_weight ? std::log(*options.max_weight) : -kNoWeight) {
    if (!(low_ <= high_)) {
      Throw<ConfigError>("min_log_ratio: {} is above max_log_ratio: {}", low_, high_);
    }
    if (std::isnan(max_log_weight_) || max_log_weight_ == kNoWeight) {
      Throw<ConfigError>("max_weight: {} is not a number above 0", *options.max_weight);
    }
  }

  bool active() const {
    return low_ != kNoWeight || high_ != -kNoWeight || max_log_weight_ != -kNoWeight;
  }
  double Ratio(double log_ratio) {
    const double kept = std::clamp(log_ratio, low_, high_);
    ratios_ += kept != log_ratio;
    return kept;
  }
  double Weight(double log_weight) {
    weights_ += log_weight > max_log_weight_;
    return std::min(log_weight, max_log_weight_);
  }

  std::vector<std::string> Notes(std::int64_t steps) const {
    std::vector<std::string> notes;
    if (ratios_ > 0) {
      notes.push_back(
          fmt::format("{} of {} ratios were moved to their limits exp({}) .. exp({}): biased",
                      ratios_, steps, low_, high_));
    }
    if (weights_ > 0) {
      notes.push_back(fmt::format("{} of {} weights were lowered to {}: biased", weights_, steps,
                                  std::exp(max_log_weight_)));
    }
    return notes;
  }

 private:
  double low_, high_, max_log_weight_;
  std::int64_t ratios_ = 0, weights_ = 0;
};

// Largest log-weight of each column, [K].
Eigen::ArrayXd ColumnTops(const Matrix& log_weights) {
  Eigen::ArrayXd tops = Eigen::ArrayXd::Constant(log_weights.shape()[1], kNoWeight);
  for (std::int64_t i = 0; i < log_weights.shape()[0]; ++i) {
    tops = tops.max(AsArray(log_weights.Row(i)));
  }
  return tops;
}

// Why there is no estimate from these columns; empty if each has a weight above zero.
std::string NoSupport(const Eigen::ArrayXd& tops, std::int64_t base) {
  for (Eigen::Index k = 0; k < tops.size(); ++k) {
    if (tops(k) != kNoWeight) continue;
    return tops.size() == 1 ? std::string("no support: all weights are 0")
                            : fmt::format("no support: all weights of step {} are 0", k - base);
  }
  return "";
}

Estimate RefuseRewards() { return Refuse("the sum of rewards is not finite in double"); }

Estimate RefuseSupport(std::string reason) {
  Estimate estimate = Refuse(std::move(reason));
  estimate.ess = 0.0;
  return estimate;
}

bool AllFinite(std::span<const double> values) {
  // a sum of zeros times values is NaN exactly when one is not finite
  return (AsArray(values) * 0.0).sum() == 0.0;
}

// The sum of x exp(log w) of one episode in units of exp(unit).
double ScaledRow(std::span<const double> log_weights, std::span<const double> outcomes,
                 double unit) {
  double sum = 0.0;
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    if (outcomes[k] == 0.0 || log_weights[k] == kNoWeight) continue;
    const double size = std::exp(log_weights[k] + std::log(std::abs(outcomes[k])) - unit);
    sum += outcomes[k] < 0.0 ? -size : size;
  }
  return sum;
}

// The logarithm of the largest |x| exp(log w).
double LargestLogTerm(const WeightedColumns& columns) {
  double unit = kNoWeight;
  for (std::size_t k = 0; k < columns.outcomes.flat().size(); ++k) {
    const double outcome = std::abs(columns.outcomes.flat()[k]);
    if (outcome > 0.0) unit = std::max(unit, columns.log_weights.flat()[k] + std::log(outcome));
  }
  return unit;
}

// What a mean of sums in units of exp(unit) is beyond double's range; nothing inside it.
std::optional<Estimate> BeyondDouble(std::span<const double> sums, double unit) {
  const double mean = Mean(sums);
  const double largest = AsArray(sums).abs().maxCoeff();
  const double log_total = unit + std::log(largest) + std::log(static_cast<double>(sums.size()));
  const double log_value = unit + std::log(std::abs(mean));
  const bool fits = log_total <= kLogRange && (mean == 0.0 || log_value >= -kLogRange);
  if (largest == 0.0 || fits) return {};
  Estimate estimate;
  if (mean != 0.0) estimate.log10_value = log_value / std::numbers::ln10;
  if (log_value < 0.0) {
    estimate.value = 0.0;
  } else {
    estimate.reason = fmt::format("not finite in double: {}10^{:.2f}", mean < 0.0 ? "-" : "",
                                  *estimate.log10_value);
  }
  return estimate;
}

// Sums over the columns of each episode, in units of exp(unit), [n].
struct EpisodeSums {
  std::vector<double> values;
  double unit = 0.0;
};

EpisodeSums SumEpisodes(const WeightedColumns& columns, const Eigen::ArrayXd& tops) {
  const std::int64_t n = columns.outcomes.shape()[0];
  EpisodeSums sums{std::vector<double>(static_cast<std::size_t>(n)), 0.0};
  const bool plain = tops.abs().maxCoeff() <= kPlainLogRange;
  if (!plain) sums.unit = LargestLogTerm(columns);
  if (sums.unit == kNoWeight) sums.unit = 0.0;
  std::vector<double> weights(static_cast<std::size_t>(tops.size()));
  const Eigen::ArrayXd units = Eigen::ArrayXd::Zero(tops.size());
  Eigen::ArrayXd scratch;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::span<const double> logs = columns.log_weights.Row(i);
    const std::span<const double> outcomes = columns.outcomes.Row(i);
    double& sum = sums.values[static_cast<std::size_t>(i)];
    if (plain) {
      ExpRelative(logs, units, weights, scratch);
      sum = (AsArray(std::span<const double>(weights)) * AsArray(outcomes)).sum();
    } else {
      sum = ScaledRow(logs, outcomes, sums.unit);
    }
  }
  return sums;
}

// Throws where a log-ratio is beyond any density ratio.
void CheckRatios(std::span<const double> ratios, const std::string& name, std::int64_t row) {
  if (AllWithin(ratios, kLargestLogRatio)) return;
  for (std::size_t t = 0; t < ratios.size(); ++t) {
    if (std::abs(ratios[t]) <= kLargestLogRatio || ratios[t] == kNoWeight) continue;
    Throw<DataError>("{} log-ratios: episode {}, step {} is {}, beyond any density ratio", name,
                     row, t, ratios[t]);
  }
}

// Log-weights of one episode's steps from its log-ratios; returns the last.
double CumulateRow(std::span<const double> ratios, RatioProduct kind, RatioClip& clip,
                   std::span<double> weights) {
  double product = 0.0, weight = 0.0;
  for (std::size_t t = 0; t < ratios.size(); ++t) {
    const double ratio = clip.Ratio(ratios[t]);
    product = kind == RatioProduct::kStep ? ratio : product + ratio;
    weight = clip.Weight(product);
    if (!weights.empty()) weights[t] = weight;
  }
  return weight;
}

// The same without limits.
double CumulateFreely(std::span<const double> ratios, RatioProduct kind,
                      std::span<double> weights) {
  const bool step = kind == RatioProduct::kStep;
  if (weights.empty()) return step ? ratios.back() : Sum(ratios);
  if (step) {
    std::ranges::copy(ratios, weights.begin());
    return ratios.back();
  }
  double product = 0.0;
  for (std::size_t t = 0; t < ratios.size(); ++t) weights[t] = product += ratios[t];
  return product;
}

double WeightAfterEnd(FinishedEpisodes rule, double last) {
  switch (rule) {
    case FinishedEpisodes::kCarry:
      return last;
    case FinishedEpisodes::kDrop:
      return kNoWeight;
    case FinishedEpisodes::kOne:
      return 0.0;
  }
  return last;
}

// Fills out.last, and the rows of out.log_weights unless it is empty.
void Cumulate(const EstimatorInputs& inputs, std::span<const std::int64_t> rows,
              const RatioOptions& options, std::int64_t base, ImportanceWeights& out) {
  const Matrix& log_ratios = inputs.log_ratios.at(options.ratio);
  RatioClip clip(options);
  std::int64_t steps = 0;
  for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    const auto length = static_cast<std::size_t>(inputs.lengths[static_cast<std::size_t>(row)]);
    const std::span<const double> ratios = log_ratios.Row(row).first(length);
    CheckRatios(ratios, options.ratio, row);
    std::span<double> weights;
    if (!out.log_weights.empty()) {
      weights = out.log_weights.Row(i).subspan(static_cast<std::size_t>(base));
    }
    const double last = clip.active() ? CumulateRow(ratios, options.product, clip, weights)
                                      : CumulateFreely(ratios, options.product, weights);
    if (!weights.empty()) {
      std::ranges::fill(weights.subspan(length), WeightAfterEnd(options.finished, last));
    }
    out.last[static_cast<std::size_t>(i)] = last;
    steps += std::ssize(ratios);
  }
  out.notes = clip.Notes(steps);
}

}  // namespace

std::string Describe(const RatioOptions& options) {
  const RatioOptions defaults;
  std::string text;
  const auto add = [&](std::string_view name, const auto& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  };
  if (options.ratio != defaults.ratio) add("ratio", options.ratio);
  if (options.product != defaults.product) add("product", EnumName(options.product));
  if (options.finished != defaults.finished) add("finished", EnumName(options.finished));
  if (options.min_log_ratio) add("min_log_ratio", *options.min_log_ratio);
  if (options.max_log_ratio) add("max_log_ratio", *options.max_log_ratio);
  if (options.max_weight) add("max_weight", *options.max_weight);
  return text;
}

ImportanceWeights MakeImportanceWeights(const EstimatorInputs& inputs,
                                        std::span<const std::int64_t> rows,
                                        const RatioOptions& options, std::int64_t base) {
  std::int64_t longest = 0;
  for (const std::int64_t row : rows) {
    longest = std::max(longest, inputs.lengths[static_cast<std::size_t>(row)]);
  }
  ImportanceWeights out{
      Matrix({std::ssize(rows), base + longest}), std::vector<double>(rows.size()), {}};
  Cumulate(inputs, rows, options, base, out);
  return out;
}

ImportanceWeights MakeEpisodeWeights(const EstimatorInputs& inputs,
                                     std::span<const std::int64_t> rows,
                                     const RatioOptions& options) {
  ImportanceWeights out{{}, std::vector<double>(rows.size()), {}};
  Cumulate(inputs, rows, options, 0, out);
  return out;
}

Estimate SelfNormalizedSum(WeightedColumns columns) {
  const Eigen::ArrayXd tops = ColumnTops(columns.log_weights);
  if (std::string why = NoSupport(tops, columns.base); !why.empty()) {
    return RefuseSupport(std::move(why));
  }
  // in place: weights where their logarithms were
  Eigen::ArrayXd scratch;
  for (std::int64_t i = 0; i < columns.outcomes.shape()[0]; ++i) {
    const std::span<double> weights = columns.log_weights.Row(i);
    const std::span<double> numerators = columns.outcomes.Row(i);
    ExpRelative(weights, tops, weights, scratch);
    AsArray(numerators) *= AsArray(weights);
    if (!AllFinite(numerators)) return RefuseRewards();
  }
  Estimate estimate;
  estimate.terms = {std::move(columns.outcomes), std::move(columns.log_weights)};
  return estimate;
}

Estimate PlainSum(WeightedColumns columns, std::span<const double> counts) {
  const std::int64_t n = columns.outcomes.shape()[0];
  const Eigen::ArrayXd tops = ColumnTops(columns.log_weights);
  if (std::string why = NoSupport(tops, columns.base); !why.empty()) {
    return RefuseSupport(std::move(why));
  }
  if (!AllFinite(columns.outcomes.flat())) return RefuseRewards();
  // a mean over fewer episodes is a mean over n of larger outcomes
  for (std::int64_t i = 0; i < n && !counts.empty(); ++i) {
    AsArray(columns.outcomes.Row(i)) *= static_cast<double>(n) / AsArray(counts);
  }

  const EpisodeSums sums = SumEpisodes(columns, tops);
  if (!AllFinite(sums.values)) return RefuseRewards();
  if (auto beyond = BeyondDouble(sums.values, sums.unit)) return std::move(*beyond);
  Estimate estimate;
  estimate.terms = {Matrix({n, 1}), Matrix({n, 0})};
  AsArray(estimate.terms.numerators.flat()) =
      AsArray(std::span<const double>(sums.values)) * std::exp(sums.unit);
  return estimate;
}

void AddDiagnostics(std::span<const double> log_weights, Estimate& estimate) {
  const WeightSummary summary = Summarize(log_weights);
  estimate.ess = summary.ess;
  if (!summary.supported) return;
  estimate.max_weight = summary.max_weight;
  estimate.khat = FitTail(log_weights).khat;
}

}  // namespace lfiw::ope
