#include "ope/rollouts/lfiw_horizons.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/rng.h"
#include "core/statistics.h"
#include "ope/judgement/selection.h"
#include "ope/rollouts/rollout_spread.h"

namespace lfiw::ope {
namespace {

// Estimates of the horizons that have one, the largest first.
struct Candidates {
  std::vector<std::int64_t> horizons;  // [m]
  std::vector<double> values;          // [m]
  Array<double, 3> estimates;          // [m, R, C]

  std::int64_t size() const { return std::ssize(horizons); }
};

std::vector<std::int64_t> EvenHorizons(std::int64_t steps, std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = std::min(count, steps + 1) - 1; k >= 0; --k) {
    out.push_back(k * steps / (std::min(count, steps + 1) - 1));
  }
  return out;
}

Candidates CandidatesOf(const LfiwResult& result, std::int64_t count) {
  Candidates out;
  std::vector<const LfiwEstimate*> supported;
  for (const std::int64_t h : EvenHorizons(std::ssize(result.horizons) - 1, count)) {
    const LfiwEstimate& estimate = result.horizons[static_cast<std::size_t>(h)];
    if (!estimate.value) continue;
    out.horizons.push_back(h);
    out.values.push_back(*estimate.value);
    supported.push_back(&estimate);
  }
  if (supported.empty()) return out;
  // at H = 0 all classifiers agree, and there is one column
  const std::int64_t repetitions = supported.front()->estimates.shape()[0];
  const std::int64_t classifiers = supported.front()->estimates.shape()[1];
  out.estimates = Array<double, 3>({out.size(), repetitions, classifiers});
  for (std::int64_t k = 0; k < out.size(); ++k) {
    const Array<double, 2>& from = supported[static_cast<std::size_t>(k)]->estimates;
    for (std::int64_t r = 0; r < repetitions; ++r) {
      for (std::int64_t c = 0; c < classifiers; ++c) {
        out.estimates(k, r, c) = from(r, std::min(c, from.shape()[1] - 1));
      }
    }
  }
  return out;
}

// Repetition by classifier of a weighted sum of the candidates, [R, C].
Array<double, 2> Blend(const Candidates& candidates, const std::vector<double>& weights) {
  const auto& shape = candidates.estimates.shape();
  Array<double, 2> out({shape[1], shape[2]});
  for (std::int64_t k = 0; k < shape[0]; ++k) {
    for (std::int64_t r = 0; r < shape[1]; ++r) {
      for (std::int64_t c = 0; c < shape[2]; ++c) {
        out(r, c) += weights[static_cast<std::size_t>(k)] * candidates.estimates(k, r, c);
      }
    }
  }
  return out;
}

std::vector<double> One(std::int64_t place, std::int64_t count) {
  std::vector<double> out(static_cast<std::size_t>(count), 0.0);
  out[static_cast<std::size_t>(place)] = 1.0;
  return out;
}

// Half the width of the interval of candidate k.
double HalfWidth(const Candidates& candidates, std::int64_t k, double level) {
  const RolloutSpread spread = *SpreadOf(Blend(candidates, One(k, candidates.size())));
  return StudentTQuantile(0.5 + 0.5 * level, spread.degrees) * spread.standard_error;
}

std::vector<double> SlopeWeights(const Candidates& candidates, double level) {
  std::vector<double> widths;
  for (std::int64_t k = 0; k < candidates.size(); ++k) {
    widths.push_back(HalfWidth(candidates, k, level));
  }
  return One(SlopeChoice(candidates.values, widths), candidates.size());
}

std::vector<double> MagicWeights(const Candidates& candidates, double level) {
  const double width = HalfWidth(candidates, 0, level);
  const double low = candidates.values.front() - width, high = candidates.values.front() + width;
  std::vector<double> bias;
  for (const double value : candidates.values) bias.push_back(value - std::clamp(value, low, high));
  Array<double, 2> errors = SpreadCovariance(candidates.estimates);
  for (std::int64_t i = 0; i < candidates.size(); ++i) {
    for (std::int64_t j = 0; j < candidates.size(); ++j) {
      errors(i, j) += bias[static_cast<std::size_t>(i)] * bias[static_cast<std::size_t>(j)];
    }
  }
  return MinimizeOnSimplex(errors);
}

std::vector<std::size_t> Resample(std::int64_t count, Stream& stream) {
  std::vector<std::size_t> out;
  for (std::int64_t i = 0; i < count; ++i) {
    out.push_back(static_cast<std::size_t>(stream.Below(static_cast<std::uint64_t>(count))));
  }
  return out;
}

std::vector<double> OperaWeights(const Candidates& candidates, const HorizonRuleOptions& options) {
  const auto& shape = candidates.estimates.shape();
  const double share = 1.0 / static_cast<double>(shape[1] * shape[2]);
  Array<double, 2> replicates({options.resamples, shape[0]});
  for (std::int64_t b = 0; b < options.resamples; ++b) {
    Stream stream(options.seed, "opera resamples", {static_cast<std::uint64_t>(b)});
    const std::vector<std::size_t> repetitions = Resample(shape[1], stream);
    const std::vector<std::size_t> classifiers = Resample(shape[2], stream);
    for (std::int64_t k = 0; k < shape[0]; ++k) {
      for (const std::size_t r : repetitions) {
        for (const std::size_t c : classifiers) {
          replicates(b, k) += share * candidates.estimates(k, r, c);
        }
      }
    }
  }
  return BlendWeights(candidates.values, replicates);
}

std::vector<double> WeightsOf(const Candidates& candidates, const HorizonRuleOptions& options) {
  switch (options.rule) {
    case HorizonRule::kSlope:
      return SlopeWeights(candidates, options.level);
    case HorizonRule::kMagic:
      return MagicWeights(candidates, options.level);
    default:
      return OperaWeights(candidates, options);
  }
}

// "H = 40 of 100", or the shares of those that have some.
std::string Chosen(const Candidates& candidates, const std::vector<double>& weights,
                   std::int64_t steps) {
  constexpr double kVisible = 0.005;
  std::string text;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] < kVisible) continue;
    text += fmt::format("{}{:.0f} % of H = {}", text.empty() ? "" : ", ", 100.0 * weights[k],
                        candidates.horizons[k]);
  }
  return fmt::format("{} of {} steps", text, steps);
}

}  // namespace

Estimate EstimateAcrossHorizons(const EstimatorInputs& inputs, const Estimand& estimand,
                                const HorizonRuleOptions& options) {
  const LfiwResult result =
      EstimateLfiw(inputs.model_rewards, inputs.model_log_weights, estimand, options.lfiw);
  const Candidates candidates = CandidatesOf(result, options.candidates);
  if (candidates.size() == 0) return Refuse("no support");
  if (candidates.estimates.shape()[1] < 2 && candidates.estimates.shape()[2] < 2) {
    return Refuse("needs a second repetition of the rollouts or a second classifier");
  }
  const std::vector<double> weights = WeightsOf(candidates, options);
  const Array<double, 2> blended = Blend(candidates, weights);
  const RolloutSpread spread = *SpreadOf(blended);
  Estimate out;
  out.value = Mean(blended.flat());
  out.standard_error = spread.standard_error;
  out.degrees = spread.degrees;
  out.covers = spread.covers + " and the horizons chosen";
  out.notes.push_back(Chosen(candidates, weights, std::ssize(result.horizons) - 1));
  return out;
}

std::vector<Estimator> HorizonRuleEstimators() {
  std::vector<Estimator> out;
  for (const auto& [rule, summary] :
       {std::pair(HorizonRule::kSlope, "LFIW at the horizon that SLOPE chooses (Su et al. 2020)"),
        std::pair(HorizonRule::kMagic,
                  "LFIW's horizons blended as MAGIC does (Thomas and Brunskill 2016)"),
        std::pair(HorizonRule::kOpera,
                  "LFIW's horizons blended by bootstrapped error (Nie et al. 2024)")}) {
    const std::string text = summary;
    out.push_back(Configurable<HorizonRuleOptions>(
        {.rule = rule}, [text](const HorizonRuleOptions& options) -> Estimator {
          return {.name = fmt::format("lfiw_{}", EnumName(options.rule)),
                  .summary = text,
                  .horizons = HorizonSupport::kFinite,
                  .needs = {"rollouts", "classifiers"},
                  .estimate = [options](const EstimatorInputs& inputs, const Estimand& estimand) {
                    return EstimateAcrossHorizons(inputs, estimand, options);
                  }};
        }));
  }
  return out;
}

}  // namespace lfiw::ope
