#include "ope/judgement/episode_intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

EpisodeInterval RefuseInterval(std::string reason) {
  EpisodeInterval interval;
  interval.reason = std::move(reason);
  return interval;
}

EpisodeInterval StudentT(const EpisodeTerms& terms, double level) {
  const std::optional<double> error = StandardErrorOf(terms);
  if (!error) return RefuseInterval("the standard error is not finite");
  const double t = StudentTQuantile(0.5 + 0.5 * level, static_cast<double>(terms.episodes() - 1));
  const double value = *ValueOf(terms);
  return {.low = value - t * *error,
          .high = value + t * *error,
          .reason = {},
          .assumes = "independent episodes, enough of them for a nearly normal estimate"};
}

// A bootstrap that loses more resamples than this to missing support says too little.
constexpr double kLargestLoss = 0.05;

std::optional<std::string> Lost(const std::vector<double>& values, std::int64_t resamples) {
  const double kept = static_cast<double>(values.size()) / static_cast<double>(resamples);
  if (kept >= 1.0 - kLargestLoss) return {};
  return fmt::format("{:.0f} % of the bootstrap resamples have no support", 100.0 * (1.0 - kept));
}

EpisodeInterval Percentile(const EpisodeTerms& terms, const EpisodeIntervalOptions& options) {
  const std::vector<double> values = BootstrapValues(terms, options.resamples, options.seed);
  if (const auto lost = Lost(values, options.resamples)) return RefuseInterval(*lost);
  return {.low = Quantile(values, 0.5 - 0.5 * options.level),
          .high = Quantile(values, 0.5 + 0.5 * options.level),
          .reason = {},
          .assumes = "independent episodes; resampling them stands for new logs"};
}

// Returns the skewness of the influence of single episodes, / 6: BCa's acceleration.
double Acceleration(const EpisodeTerms& terms) {
  const std::vector<double> influences = Influence(terms);
  // in units of the largest, whose cube may leave the range of double
  double largest = 0.0;
  for (const double influence : influences) largest = std::max(largest, std::abs(influence));
  if (largest == 0.0) return 0.0;
  double squares = 0.0, cubes = 0.0;
  for (const double influence : influences) {
    const double scaled = influence / largest;
    squares += scaled * scaled;
    cubes += scaled * scaled * scaled;
  }
  return cubes / (6.0 * std::pow(squares, 1.5));
}

EpisodeInterval Bca(const EpisodeTerms& terms, const EpisodeIntervalOptions& options) {
  const std::vector<double> values = BootstrapValues(terms, options.resamples, options.seed);
  if (const auto lost = Lost(values, options.resamples)) return RefuseInterval(*lost);
  const double value = *ValueOf(terms);
  // ties count half, and a share of 0 or 1 would have no normal quantile
  double below = 0.0;
  for (const double x : values) below += x < value ? 1.0 : x == value ? 0.5 : 0.0;
  const auto count = static_cast<double>(values.size());
  const double z0 = NormalQuantile(std::clamp(below / count, 0.5 / count, 1.0 - 0.5 / count));
  const double a = Acceleration(terms);
  if (!std::isfinite(a)) return RefuseInterval("the spread of the episodes is not finite");
  const auto end = [&](double p) {
    const double z = z0 + NormalQuantile(p);
    return Quantile(values, std::clamp(NormalCdf(z0 + z / (1.0 - a * z)), 0.0, 1.0));
  };
  return {.low = end(0.5 - 0.5 * options.level),
          .high = end(0.5 + 0.5 * options.level),
          .reason = {},
          .assumes =
              "independent episodes; resampling them, corrected for bias and skewness, stands for "
              "new logs"};
}

// Returns the contribution of each episode to a plain mean.
std::vector<double> Contributions(const EpisodeTerms& terms) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < terms.episodes(); ++i) out.push_back(Sum(terms.numerators.Row(i)));
  return out;
}

EpisodeInterval Hoeffding(const std::vector<double>& x, double level, const ReturnRange& range) {
  const double half = (range.high - range.low) * std::sqrt(std::log(2.0 / (1.0 - level)) /
                                                           (2.0 * static_cast<double>(x.size())));
  return {.low = Mean(x) - half,
          .high = Mean(x) + half,
          .reason = {},
          .assumes = fmt::format("independent episodes that contribute between {:.4g} and {:.4g}",
                                 range.low, range.high),
          .conservative = true};
}

EpisodeInterval EmpiricalBernstein(const std::vector<double>& x, double level,
                                   const ReturnRange& range) {
  const auto n = static_cast<double>(x.size());
  // both sides fail with probability (1 - level) / 2 each
  const double log_term = std::log(4.0 / (1.0 - level));
  const double half = std::sqrt(2.0 * Variance(x) * log_term / n) +
                      7.0 * (range.high - range.low) * log_term / (3.0 * (n - 1.0));
  return {.low = Mean(x) - half,
          .high = Mean(x) + half,
          .reason = {},
          .assumes = fmt::format("independent episodes that contribute between {:.4g} and {:.4g}",
                                 range.low, range.high),
          .conservative = true};
}

// Returns Thomas et al.'s bound with one threshold c for all: of `sample` >= 0, as if it had `n`
// values.
double HcopeBound(const std::vector<double>& sample, double c, double n, double delta) {
  std::vector<double> cut;
  for (const double x : sample) cut.push_back(std::min(x, c));
  const double log_term = std::log(2.0 / delta);
  return Mean(cut) - 7.0 * c * log_term / (3.0 * (n - 1.0)) -
         std::sqrt(2.0 * Variance(cut) * log_term / n);
}

// Takes a twentieth of the episodes to choose the threshold that promises most for the rest, which
// make the bound.
EpisodeInterval Hcope(std::vector<double> x, const EpisodeIntervalOptions& options, double lowest) {
  const auto n = std::ssize(x);
  const std::int64_t chosen = std::max<std::int64_t>(2, n / 20);
  if (n - chosen < 2) return RefuseInterval(fmt::format("{} episodes, needs at least 4", n));
  std::vector<double> first, rest;
  const auto order = Stream(options.seed, "hcope threshold").Permutation(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = x[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] - lowest;
    (i < chosen ? first : rest).push_back(value);
  }
  const double delta = 1.0 - options.level;
  const auto size = static_cast<double>(rest.size());
  const double largest = std::max(1e-300, *std::ranges::max_element(first));
  double best = largest, promised = HcopeBound(first, largest, size, delta);
  constexpr int kSteps = 200;
  for (int k = 1; k < kSteps; ++k) {
    const double c = largest * std::pow(1e-4, static_cast<double>(k) / kSteps);
    const double bound = HcopeBound(first, c, size, delta);
    if (bound > promised) {
      promised = bound;
      best = c;
    }
  }
  return {.low = lowest + HcopeBound(rest, best, size, delta),
          .high = {},
          .reason = {},
          .assumes = fmt::format("independent episodes that contribute at least {:.4g}; one-sided",
                                 lowest),
          .conservative = true};
}

EpisodeInterval FromBounds(const EpisodeTerms& terms, const EpisodeIntervalOptions& options,
                           const std::optional<ReturnRange>& range) {
  if (terms.denominators.shape()[1] != 0) {
    return RefuseInterval(fmt::format("{} holds for plain means, not for self-normalized ones",
                                      EnumName(options.method)));
  }
  if (!range) {
    return RefuseInterval(fmt::format("{} needs bounds of what one episode can contribute",
                                      EnumName(options.method)));
  }
  const std::vector<double> x = Contributions(terms);
  if (options.method == EpisodeIntervalMethod::kHoeffding) {
    return Hoeffding(x, options.level, *range);
  }
  if (options.method == EpisodeIntervalMethod::kEmpiricalBernstein) {
    return EmpiricalBernstein(x, options.level, *range);
  }
  return Hcope(x, options, range->low);
}

}  // namespace

EpisodeInterval MakeEpisodeInterval(const EpisodeTerms& terms,
                                    const EpisodeIntervalOptions& options,
                                    const std::optional<ReturnRange>& range) {
  if (!(options.level > 0.0 && options.level < 1.0)) {
    Throw<ConfigError>("interval level {}, expected a number between 0 and 1", options.level);
  }
  if (terms.empty()) return RefuseInterval("the estimate is no sum over episodes");
  if (terms.episodes() < 2) return RefuseInterval("a single episode has no spread");
  if (!ValueOf(terms)) return RefuseInterval("there is no estimate");
  switch (options.method) {
    case EpisodeIntervalMethod::kStudentT:
      return StudentT(terms, options.level);
    case EpisodeIntervalMethod::kPercentile:
      return Percentile(terms, options);
    case EpisodeIntervalMethod::kBca:
      return Bca(terms, options);
    default:
      return FromBounds(terms, options, range);
  }
}

}  // namespace lfiw::ope
