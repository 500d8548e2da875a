#include "ope/rollouts/lfiw_sweep.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>

#include "core/error.h"
#include "ope/rollouts/log_weights.h"
#include "ope/value.h"

namespace lfiw::ope {
namespace {

constexpr double kNoLogWeight = -std::numeric_limits<double>::infinity();
// Unnormalized weights are formed as they are while the largest lies within exp(+-300), so that
// their squares are representable, and relative to the largest beyond.
constexpr double kPlainLogRange = 300.0;

// Weights of n episodes in units of exp(log_unit).
struct Weights {
  std::vector<double> values;
  WeightNormalization normalization = WeightNormalization::kSelf;
  double divisor = 1.0;   // of a weighted mean: the sum of the values, or n
  double log_unit = 0.0;  // of a weighted mean: 0 when the unit cancels
  double sum = 0.0;
  double sum_of_squares = 0.0;
  double largest = 0.0;

  double ess() const {
    return EffectiveSampleSize(sum, sum_of_squares, static_cast<std::int64_t>(values.size()));
  }
  double max_weight() const { return largest / sum; }
};

Weights UnitWeights(std::int64_t n) {
  const auto count = static_cast<double>(n);
  return {.values = std::vector<double>(static_cast<std::size_t>(n), 1.0),
          .divisor = count,
          .sum = count,
          .sum_of_squares = count,
          .largest = 1.0};
}

double LargestLogWeight(std::span<const double> values) {
  return *std::max_element(values.begin(), values.end());
}

// Fills `weights` from log-weights of which at least one is above -inf.
void Exponentiate(std::span<const double> log_weights, WeightNormalization normalization,
                  Weights& weights) {
  const double top = LargestLogWeight(log_weights);
  const bool self = normalization == WeightNormalization::kSelf;
  const double unit = self || std::abs(top) > kPlainLogRange ? top : 0.0;
  weights.normalization = normalization;
  weights.values.resize(log_weights.size());
  weights.sum = weights.sum_of_squares = 0.0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    const double weight = std::exp(log_weights[i] - unit);
    weights.values[i] = weight;
    weights.sum += weight;
    weights.sum_of_squares += weight * weight;
  }
  weights.largest = std::exp(top - unit);
  weights.log_unit = self ? 0.0 : unit;
  weights.divisor = self ? weights.sum : static_cast<double>(log_weights.size());
}

// A quantity in units of exp(log_scale) with each episode's share in its error: the sum of the
// squared shares is the variance of the value (the delta method).
struct Term {
  double log_scale = kNoLogWeight;
  double value = 0.0;
  std::vector<double> shares;

  explicit Term(std::int64_t n) : shares(static_cast<std::size_t>(n), 0.0) {}

  // Sets this to the weighted mean of `outcomes`. The error of a normalizer is part of the shares.
  void SetMean(const Weights& weights, std::span<const double> outcomes) {
    const bool self = weights.normalization == WeightNormalization::kSelf;
    double sum = 0.0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) sum += weights.values[i] * outcomes[i];
    value = sum / weights.divisor;
    log_scale = weights.log_unit;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const double product = weights.values[i] * outcomes[i];
      const double mean = self ? weights.values[i] * value : value;
      shares[i] = (product - mean) / weights.divisor;
    }
  }

  void Add(const Term& other) {
    const double scale = std::max(log_scale, other.log_scale);
    const double mine = std::exp(log_scale - scale), theirs = std::exp(other.log_scale - scale);
    value = value * mine + other.value * theirs;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      shares[i] = shares[i] * mine + other.shares[i] * theirs;
    }
    log_scale = scale;
  }
};

// Writes the estimate head + tail; tail.log_scale is finite.
void WriteSum(const Term& head, const Term& tail, SweepPoint& point) {
  const double scale = std::max(head.log_scale, tail.log_scale);
  const double a = std::exp(head.log_scale - scale), b = std::exp(tail.log_scale - scale);
  double squares = 0.0;
  for (std::size_t i = 0; i < head.shares.size(); ++i) {
    const double share = head.shares[i] * a + tail.shares[i] * b;
    squares += share * share;
  }
  point.log_scale = scale;
  point.mantissa = head.value * a + tail.value * b;
  point.se_mantissa = std::sqrt(squares);
}

// Which horizons want a k-hat, [T + 1], and the last of them.
struct WantedKhat {
  std::vector<bool> at;
  std::int64_t last = -1;

  WantedKhat(const LfiwOptions& options, std::int64_t steps)
      : at(static_cast<std::size_t>(steps) + 1, options.khat == KhatHorizons::kAll) {
    if (options.khat == KhatHorizons::kListed) {
      for (const std::int64_t h : options.khat_horizons) at[static_cast<std::size_t>(h)] = true;
    }
    for (std::int64_t h = 0; h <= steps; ++h) {
      if (At(h)) last = h;
    }
  }
  bool At(std::int64_t horizon) const { return at[static_cast<std::size_t>(horizon)]; }
};

// Keeps the larger k-hat, and any k-hat over a reason.
void KeepLarger(const TailFit& fit, TailFit& largest) {
  if (fit.khat && (!largest.khat || *fit.khat > *largest.khat)) largest = fit;
  if (!fit.khat && !largest.khat) largest.status = fit.status;
}

// H = 0, from returns [n].
SweepPoint PlainPoint(std::span<const double> returns) {
  const auto n = static_cast<std::int64_t>(returns.size());
  const Weights unit = UnitWeights(n);
  Term none(n), mean(n);
  mean.SetMean(unit, returns);
  SweepPoint point;
  point.supported = true;
  WriteSum(none, mean, point);
  point.ess = static_cast<double>(n);
  point.max_weight = 1.0 / point.ess;
  point.tail.status = TailStatus::kAllEqual;
  return point;
}

// Trajectory, per-decision and stepwise weights: a sum of terms that H has passed (the head) and
// the rewards still ahead (the tail), weighed anew at each H.
class SetwiseSweep {
 public:
  SetwiseSweep(const StepOutcomes& outcomes, const LfiwOptions& options)
      : outcomes_(outcomes),
        options_(options),
        steps_(outcomes.rewards.shape()[0]),
        episodes_(outcomes.rewards.shape()[1]),
        wanted_(options, steps_),
        cumulative_(static_cast<std::size_t>(episodes_), 0.0),
        unit_(UnitWeights(episodes_)),
        head_(episodes_),
        ahead_(episodes_),
        term_(episodes_) {}

  std::vector<SweepPoint> Run(const Array<double, 2>& log_weights) {
    std::vector<SweepPoint> points(static_cast<std::size_t>(steps_) + 1);
    points[0] = PlainPoint(outcomes_.tails.Row(0));
    for (std::int64_t t = 0; t < steps_; ++t) {
      // once a set of weights is all zero no later horizon has support either
      if (!Weigh(log_weights.Row(t), t)) break;
      points[static_cast<std::size_t>(t) + 1] = Point(t);
    }
    return points;
  }

 private:
  bool stepwise() const { return options_.variant == LfiwVariant::kStepwise; }
  bool trajectory() const { return options_.variant == LfiwVariant::kTrajectory; }

  // Forms the weights that act at step t; false when all are zero.
  bool Weigh(std::span<const double> log_weights, std::int64_t t) {
    for (std::size_t i = 0; i < cumulative_.size(); ++i) {
      cumulative_[i] = stepwise() ? log_weights[i] : cumulative_[i] + log_weights[i];
    }
    current_ = cumulative_;
    Flatten(current_, options_.alpha);
    const std::int64_t clipped = ClipBelow(current_, options_.beta);
    clipped_ = trajectory() ? clipped : clipped_ + clipped;
    if (LargestLogWeight(current_) == kNoLogWeight) return false;
    const std::int64_t horizon = t + 1;
    const bool fits = stepwise() ? horizon <= wanted_.last : wanted_.At(horizon);
    const TailFit fit = options_.smoothing == WeightSmoothing::kPareto ? SmoothTail(current_)
                        : fits                                         ? FitTail(current_)
                                                                       : TailFit{};
    if (stepwise() && t > 0) {
      KeepLarger(fit, tail_);
    } else {
      tail_ = fit;
    }
    Exponentiate(current_, options_.normalization, weights_);
    return true;
  }

  // The estimate at H = t + 1.
  SweepPoint Point(std::int64_t t) {
    if (!trajectory()) {
      term_.SetMean(weights_, outcomes_.rewards.Row(t));
      head_.Add(term_);
    }
    ahead_.SetMean(stepwise() ? unit_ : weights_, outcomes_.tails.Row(trajectory() ? 0 : t + 1));

    SweepPoint point;
    point.supported = true;
    WriteSum(head_, ahead_, point);
    point.clipped = clipped_;
    ess_sum_ += weights_.ess();
    max_weight_ = std::max(max_weight_, weights_.max_weight());
    point.ess = stepwise() ? ess_sum_ / static_cast<double>(t + 1) : weights_.ess();
    point.max_weight = stepwise() ? max_weight_ : weights_.max_weight();
    if (wanted_.At(t + 1)) point.tail = tail_;
    return point;
  }

  const StepOutcomes& outcomes_;
  const LfiwOptions& options_;
  const std::int64_t steps_;
  const std::int64_t episodes_;
  const WantedKhat wanted_;

  std::vector<double> cumulative_;  // log rho_t, or log w_t when stepwise
  std::vector<double> current_;     // the same, transformed
  Weights weights_;
  const Weights unit_;
  Term head_, ahead_, term_;
  std::int64_t clipped_ = 0;
  double ess_sum_ = 0.0;
  double max_weight_ = 0.0;
  TailFit tail_;
};

// Self-normalized over all transitions of the first H steps. Sums are kept in units of the largest
// weight seen so far.
class BatchSweep {
 public:
  BatchSweep(const StepOutcomes& outcomes, const LfiwOptions& options)
      : outcomes_(outcomes),
        options_(options),
        steps_(outcomes.rewards.shape()[0]),
        episodes_(outcomes.rewards.shape()[1]),
        wanted_(options, steps_),
        products_(static_cast<std::size_t>(episodes_), 0.0),
        weights_(products_),
        unit_(UnitWeights(episodes_)),
        head_(episodes_),
        ahead_(episodes_) {}

  std::vector<SweepPoint> Run(const Array<double, 2>& log_weights) {
    std::vector<SweepPoint> points(static_cast<std::size_t>(steps_) + 1);
    points[0] = PlainPoint(outcomes_.tails.Row(0));
    for (std::int64_t t = 0; t < steps_; ++t) {
      current_.assign(log_weights.Row(t).begin(), log_weights.Row(t).end());
      Flatten(current_, options_.alpha);
      clipped_ += ClipBelow(current_, options_.beta);
      Accumulate(outcomes_.rewards.Row(t));
      if (t < wanted_.last) KeepLargest();
      if (log_unit_ > kNoLogWeight) points[static_cast<std::size_t>(t) + 1] = Point(t + 1);
    }
    return points;
  }

 private:
  void Accumulate(std::span<const double> rewards) {
    const double top = LargestLogWeight(current_);
    if (top == kNoLogWeight) return;
    if (top > log_unit_) {
      const double factor = std::exp(log_unit_ - top);
      for (double& value : products_) value *= factor;
      for (double& value : weights_) value *= factor;
      sum_of_squares_ *= factor * factor;
      log_unit_ = top;
    }
    for (std::size_t i = 0; i < rewards.size(); ++i) {
      const double weight = std::exp(current_[i] - log_unit_);
      products_[i] += weight * rewards[i];
      weights_[i] += weight;
      sum_of_squares_ += weight * weight;
    }
  }

  // Keeps as many of the largest weights so far as the tail of all n T transitions can need.
  void KeepLargest() {
    const auto keep = static_cast<std::size_t>(TailSize(steps_ * episodes_) + 1);
    largest_.insert(largest_.end(), current_.begin(), current_.end());
    const std::size_t kept = std::min(keep, largest_.size());
    const auto middle = largest_.begin() + static_cast<std::ptrdiff_t>(kept);
    std::partial_sort(largest_.begin(), middle, largest_.end(), std::greater<>());
    largest_.resize(kept);
  }

  SweepPoint Point(std::int64_t horizon) {
    double product = 0.0, sum = 0.0;
    for (std::size_t i = 0; i < products_.size(); ++i) {
      product += products_[i];
      sum += weights_[i];
    }
    const double ratio = product / sum;
    const auto count = static_cast<double>(horizon);
    head_.log_scale = 0.0;
    head_.value = count * ratio;
    for (std::size_t i = 0; i < products_.size(); ++i) {
      head_.shares[i] = count * (products_[i] - ratio * weights_[i]) / sum;
    }
    ahead_.SetMean(unit_, outcomes_.tails.Row(horizon));

    SweepPoint point;
    point.supported = true;
    WriteSum(head_, ahead_, point);
    point.ess =
        std::clamp(sum * sum / sum_of_squares_ / count, 1.0, static_cast<double>(episodes_));
    point.max_weight = 1.0 / sum;
    point.clipped = clipped_;
    if (wanted_.At(horizon)) point.tail = FitLargest(largest_, horizon * episodes_);
    return point;
  }

  const StepOutcomes& outcomes_;
  const LfiwOptions& options_;
  const std::int64_t steps_;
  const std::int64_t episodes_;
  const WantedKhat wanted_;

  std::vector<double> current_;   // transformed log-weights of one step
  std::vector<double> products_;  // [n] sums of weight times reward
  std::vector<double> weights_;   // [n] sums of weights
  double log_unit_ = kNoLogWeight;
  double sum_of_squares_ = 0.0;
  std::vector<double> largest_;  // log-weights, descending
  std::int64_t clipped_ = 0;
  const Weights unit_;
  Term head_, ahead_;
};

}  // namespace

StepOutcomes MakeStepOutcomes(const Array<double, 3>& rewards, std::int64_t r,
                              std::span<const double> factors) {
  const std::int64_t n = rewards.shape()[1], steps = rewards.shape()[2];
  StepOutcomes outcomes{Array<double, 2>({steps, n}), Array<double, 2>({steps + 1, n})};
  std::vector<double> tails(static_cast<std::size_t>(steps) + 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::span<const double> row = rewards.Row(r, i);
    TailReturns(row, factors, tails);
    for (std::int64_t t = 0; t < steps; ++t) {
      const auto k = static_cast<std::size_t>(t);
      outcomes.rewards(t, i) = factors[k] * row[k];
      outcomes.tails(t, i) = tails[k];
    }
  }
  return outcomes;
}

std::vector<SweepPoint> SweepHorizons(const StepOutcomes& outcomes,
                                      const Array<double, 2>& log_weights,
                                      const LfiwOptions& options) {
  // without a normalizer both kinds of stepwise weights are one estimator
  const bool batch = options.variant == LfiwVariant::kStepwiseBatch;
  if (batch && options.normalization == WeightNormalization::kSelf) {
    return BatchSweep(outcomes, options).Run(log_weights);
  }
  LfiwOptions setwise = options;
  if (batch) setwise.variant = LfiwVariant::kStepwise;
  return SetwiseSweep(outcomes, setwise).Run(log_weights);
}

}  // namespace lfiw::ope
