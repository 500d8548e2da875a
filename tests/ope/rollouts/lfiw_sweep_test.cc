#include "ope/rollouts/lfiw_sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rng.h"
#include "ope/value.h"

namespace lfiw::ope {
namespace {

// The definitions of ope/rollouts/lfiw.h written out for one horizon, with every weight formed as a
// plain number. `copies` says how often each episode counts, to differentiate by it.
class Slow {
 public:
  Slow(const StepOutcomes& outcomes, const Array<double, 2>& log_weights,
       const LfiwOptions& options, std::int64_t horizon)
      : outcomes_(outcomes),
        options_(options),
        horizon_(horizon),
        steps_(outcomes.rewards.shape()[0]),
        n_(outcomes.rewards.shape()[1]),
        weights_({steps_, n_}, 1.0) {
    const bool product =
        options.variant == LfiwVariant::kTrajectory || options.variant == LfiwVariant::kPerDecision;
    for (std::int64_t t = 0; t < steps_; ++t) {
      for (std::int64_t i = 0; i < n_; ++i) {
        double weight = 1.0;
        for (std::int64_t k = 0; k < horizon; ++k) {
          if (product ? k <= t : k == t) weight *= std::exp(options.alpha * log_weights(k, i));
        }
        if (t < horizon && weight < options.beta) {
          weight = options.beta;
          clipped_ += options.variant != LfiwVariant::kTrajectory || t == horizon - 1;
        }
        // later rewards keep the last clipped product
        weights_(t, i) = t >= horizon && product && horizon > 0 ? weights_(horizon - 1, i) : weight;
      }
    }
  }

  double Value(const std::vector<double>& copies) const {
    switch (options_.variant) {
      case LfiwVariant::kTrajectory: {
        std::vector<double> weights(copies.size(), 1.0), returns(copies.size(), 0.0);
        for (std::int64_t i = 0; i < n_; ++i) {
          if (horizon_ > 0) weights[At(i)] = weights_(horizon_ - 1, i);
          for (std::int64_t t = 0; t < steps_; ++t) returns[At(i)] += outcomes_.rewards(t, i);
        }
        return Average(copies, weights, returns);
      }
      case LfiwVariant::kStepwiseBatch:
        if (options_.normalization == WeightNormalization::kSelf && horizon_ > 0)
          return Batch(copies);
        [[fallthrough]];
      default: {
        double value = 0.0;
        for (std::int64_t t = 0; t < steps_; ++t) {
          const auto weights = weights_.Row(t), rewards = outcomes_.rewards.Row(t);
          value += Average(copies, weights, rewards);
        }
        return value;
      }
    }
  }

  // By central differences in the copies of each episode.
  double StandardError() const {
    double squares = 0.0;
    for (std::int64_t i = 0; i < n_; ++i) {
      std::vector<double> more(static_cast<std::size_t>(n_), 1.0), fewer = more;
      more[At(i)] += 1e-5;
      fewer[At(i)] -= 1e-5;
      const double slope = (Value(more) - Value(fewer)) / 2e-5;
      squares += slope * slope;
    }
    return std::sqrt(squares);
  }

  // Sets of weights that the estimate is judged by: one, one per step, or all pooled.
  std::vector<std::vector<double>> Sets() const {
    std::vector<std::vector<double>> sets;
    const bool product = options_.variant == LfiwVariant::kTrajectory ||
                         options_.variant == LfiwVariant::kPerDecision;
    for (std::int64_t t = product ? horizon_ - 1 : 0; t < horizon_; ++t) {
      sets.emplace_back(weights_.Row(t).begin(), weights_.Row(t).end());
      if (pooled() && t > 0) {
        sets[0].insert(sets[0].end(), sets[1].begin(), sets[1].end());
        sets.pop_back();
      }
    }
    return sets;
  }

  bool pooled() const {
    return options_.variant == LfiwVariant::kStepwiseBatch &&
           options_.normalization == WeightNormalization::kSelf;
  }
  std::int64_t clipped() const { return clipped_; }

 private:
  static std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

  double Average(std::span<const double> copies, std::span<const double> weights,
                 std::span<const double> outcomes) const {
    double products = 0.0, sum = 0.0, count = 0.0;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      products += copies[i] * weights[i] * outcomes[i];
      sum += copies[i] * weights[i];
      count += copies[i];
    }
    return products / (options_.normalization == WeightNormalization::kSelf ? sum : count);
  }

  double Batch(const std::vector<double>& copies) const {
    double products = 0.0, sum = 0.0, rest = 0.0, count = 0.0;
    for (std::int64_t i = 0; i < n_; ++i) {
      count += copies[At(i)];
      for (std::int64_t t = 0; t < steps_; ++t) {
        const double product = copies[At(i)] * weights_(t, i) * outcomes_.rewards(t, i);
        (t < horizon_ ? products : rest) += product;
        if (t < horizon_) sum += copies[At(i)] * weights_(t, i);
      }
    }
    return static_cast<double>(horizon_) * products / sum + rest / count;
  }

  const StepOutcomes& outcomes_;
  const LfiwOptions& options_;
  std::int64_t horizon_, steps_, n_;
  Array<double, 2> weights_;  // [T, n] the weight of each reward
  std::int64_t clipped_ = 0;
};

struct Case {
  StepOutcomes outcomes;
  Array<double, 2> log_weights;
};

Case RandomCase(std::int64_t n, std::int64_t steps, std::uint64_t seed) {
  Stream stream(seed, "case");
  Array<double, 3> rewards({1, n, steps});
  Array<double, 2> log_weights({steps, n});
  for (double& value : rewards.flat()) value = 1.0 + stream.Normal();
  for (double& value : log_weights.flat()) value = 0.7 * stream.Normal();
  const std::vector<double> factors = StepFactors({.discount = 0.9}, steps);
  return {MakeStepOutcomes(rewards, 0, factors), log_weights};
}

std::vector<LfiwOptions> AllOptions() {
  std::vector<LfiwOptions> all;
  for (int variant = 0; variant < 4; ++variant) {
    for (const auto normalization : {WeightNormalization::kNone, WeightNormalization::kSelf}) {
      for (const double alpha : {0.0, 0.5, 1.0}) {
        for (const double beta : {0.0, 0.8}) {
          LfiwOptions options;
          options.variant = static_cast<LfiwVariant>(variant);
          options.normalization = normalization;
          options.alpha = alpha;
          options.beta = beta;
          all.push_back(options);
        }
      }
    }
  }
  return all;
}

std::string Name(const LfiwOptions& options, std::size_t horizon) {
  return fmt::format("{} {} alpha {} beta {} H {}", EnumName(options.variant),
                     EnumName(options.normalization), options.alpha, options.beta, horizon);
}

TEST(SweepHorizons, EveryVariantAndHorizonEqualsTheWrittenOutDefinition) {
  const Case random = RandomCase(7, 5, 1);
  const std::vector<double> once(7, 1.0);
  for (const LfiwOptions& options : AllOptions()) {
    const auto points = SweepHorizons(random.outcomes, random.log_weights, options);
    ASSERT_EQ(points.size(), 6u);
    for (std::size_t h = 0; h < points.size(); ++h) {
      const Slow slow(random.outcomes, random.log_weights, options, static_cast<std::int64_t>(h));
      const SweepPoint& point = points[h];
      EXPECT_TRUE(point.supported);
      EXPECT_EQ(point.log_scale, 0.0);
      EXPECT_NEAR(point.mantissa, slow.Value(once), 1e-12) << Name(options, h);
      EXPECT_NEAR(point.se_mantissa, slow.StandardError(), 1e-8) << Name(options, h);
      EXPECT_EQ(point.clipped, slow.clipped()) << Name(options, h);
    }
  }
}

TEST(SweepHorizons, EssAndLargestWeightEqualTheirDefinitions) {
  const Case random = RandomCase(7, 5, 2);
  for (const LfiwOptions& options : AllOptions()) {
    const auto points = SweepHorizons(random.outcomes, random.log_weights, options);
    for (std::size_t h = 1; h < points.size(); ++h) {
      const Slow slow(random.outcomes, random.log_weights, options, static_cast<std::int64_t>(h));
      double ess = 0.0, largest = 0.0;
      const auto sets = slow.Sets();
      for (const std::vector<double>& set : sets) {
        double sum = 0.0, squares = 0.0;
        for (const double weight : set) {
          sum += weight;
          squares += weight * weight;
        }
        ess += sum * sum / squares / (slow.pooled() ? static_cast<double>(h) : 1.0);
        largest = std::max(largest, *std::max_element(set.begin(), set.end()) / sum);
      }
      EXPECT_NEAR(points[h].ess, ess / static_cast<double>(sets.size()), 1e-12) << Name(options, h);
      EXPECT_NEAR(points[h].max_weight, largest, 1e-14) << Name(options, h);
    }
  }
}

TEST(SweepHorizons, KhatIsThatOfTheWeightsAtEachHorizon) {
  const Case random = RandomCase(60, 4, 3);
  for (LfiwOptions options : AllOptions()) {
    if (options.alpha == 0.0 || options.beta > 0.0) continue;
    const auto points = SweepHorizons(random.outcomes, random.log_weights, options);
    options.khat = KhatHorizons::kListed;
    options.khat_horizons = {3};
    const auto listed = SweepHorizons(random.outcomes, random.log_weights, options);
    for (std::size_t h = 1; h < points.size(); ++h) {
      const Slow slow(random.outcomes, random.log_weights, options, static_cast<std::int64_t>(h));
      double largest = -HUGE_VAL;
      for (std::vector<double> set : slow.Sets()) {
        for (double& weight : set) weight = std::log(weight);
        largest = std::max(largest, *FitTail(set).khat);
      }
      EXPECT_NEAR(points[h].tail.khat.value(), largest, 1e-9) << Name(options, h);
      EXPECT_EQ(listed[h].tail.khat.has_value(), h == 3) << Name(options, h);
    }
    EXPECT_EQ(listed[3].tail.khat, points[3].tail.khat);
  }
}

TEST(SweepHorizons, SmoothingReplacesTheWeightsByTheirSmoothedOnes) {
  const Case random = RandomCase(60, 3, 4);
  LfiwOptions options;
  options.smoothing = WeightSmoothing::kPareto;
  const auto points = SweepHorizons(random.outcomes, random.log_weights, options);
  std::vector<double> products(60, 0.0);
  for (std::int64_t t = 0; t < 3; ++t) {
    double sum = 0.0, weighted = 0.0;
    for (std::size_t i = 0; i < 60; ++i) products[i] += random.log_weights.Row(t)[i];
    std::vector<double> smooth = products;
    SmoothTail(smooth);
    for (std::size_t i = 0; i < 60; ++i) {
      sum += std::exp(smooth[i]);
      weighted += std::exp(smooth[i]) * random.outcomes.tails.Row(0)[i];
    }
    EXPECT_NEAR(points[static_cast<std::size_t>(t) + 1].mantissa, weighted / sum, 1e-12);
  }
}

}  // namespace
}  // namespace lfiw::ope
