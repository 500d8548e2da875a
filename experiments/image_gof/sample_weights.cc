#include "experiments/image_gof/sample_weights.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::experiments {
namespace {

[[noreturn]] void RejectZeros(std::int64_t n) {
  Throw<NumericError>("all {} weights are 0, so no sample supports an estimate", n);
}

}  // namespace

std::vector<WeightVariant> PaperVariants(std::span<const double> alphas,
                                         std::span<const double> betas) {
  std::vector<WeightVariant> variants = {
      {.name = "default", .params = "", .scale = WeightScale::kNumber},
      {.name = "self_normalized", .params = "", .scale = WeightScale::kSum}};
  for (const double alpha : alphas) {
    variants.push_back(
        {.name = "flattened", .params = fmt::format("alpha={}", alpha), .alpha = alpha});
  }
  for (const double beta : betas) {
    variants.push_back({.name = "clipped", .params = fmt::format("beta={}", beta), .beta = beta});
  }
  return variants;
}

std::vector<WeightVariant> TemperedVariants(std::span<const double> ess_shares) {
  std::vector<WeightVariant> variants;
  for (const double share : ess_shares) {
    variants.push_back({.name = kTemperedWeights,
                        .params = fmt::format("ess={}", share),
                        .scale = WeightScale::kSum,
                        .ess_share = share});
  }
  return variants;
}

WeightVariant SmoothedVariant(const SampleRatios& ratios) {
  return {.name = kSmoothedWeights,
          .params = fmt::format("noise={}", ratios.noise),
          .scale = WeightScale::kSum,
          .ess_share = ratios.share,
          .ratios = RatioSource::kSmoothed};
}

double LargestAlpha(double share, std::size_t n, const std::function<double(double alpha)>& ess) {
  if (share >= 1.0) return 0.0;
  const double wanted = share * static_cast<double>(n);
  if (ess(1.0) >= wanted) return 1.0;
  constexpr int kHalvings = 40;
  double low = 0.0, high = 1.0;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    (ess(middle) >= wanted ? low : high) = middle;
  }
  return low;
}

double TemperedAlpha(std::span<const double> log_weights, double ess_share) {
  return LargestAlpha(ess_share, log_weights.size(), [&](double alpha) {
    std::vector<double> values(log_weights.begin(), log_weights.end());
    Flatten(values, alpha);
    return Summarize(values).ess;
  });
}

double WeightExponent(std::span<const double> log_weights, double ess_share, double alpha) {
  return ess_share > 0.0 ? TemperedAlpha(log_weights, ess_share) : alpha;
}

SampleWeights UniformWeights(std::int64_t n) {
  const auto count = static_cast<double>(n);
  return {.values = VectorD::Constant(n, 1.0 / count),
          .scale = WeightScale::kSum,
          .ess = count,
          .max_weight = 1.0 / count};
}

SampleWeights MakeWeights(std::span<const double> log_weights, const WeightVariant& variant) {
  LFIW_ASSERT(!log_weights.empty());
  SampleWeights weights;
  weights.scale = variant.scale;
  VectorD logs = Eigen::Map<const VectorD>(log_weights.data(), std::ssize(log_weights));
  const std::span<double> values(logs.data(), log_weights.size());
  weights.alpha = WeightExponent(log_weights, variant.ess_share, variant.alpha);
  Flatten(values, weights.alpha);
  weights.clipped = ClipBelow(values, variant.beta);
  const WeightSummary summary = Summarize(values);
  if (!summary.supported) RejectZeros(logs.size());
  weights.ess = summary.ess;
  weights.max_weight = summary.max_weight;
  if (variant.scale == WeightScale::kSum) {
    SelfNormalize(values);
  } else {
    for (double& value : values) value = std::exp(value) / static_cast<double>(logs.size());
    if (!logs.allFinite()) {
      Throw<NumericError>("a weight is not finite in double; self-normalized weights are");
    }
  }
  weights.values = std::move(logs);
  return weights;
}

SampleWeights TakeWeights(const SampleWeights& weights, std::span<const std::int64_t> samples) {
  SampleWeights taken{.values = VectorD(std::ssize(samples)), .scale = weights.scale};
  for (Eigen::Index i = 0; i < taken.values.size(); ++i) {
    taken.values[i] = weights.values[samples[static_cast<std::size_t>(i)]];
  }
  const double sum = taken.values.sum();
  if (!(sum > 0.0)) RejectZeros(taken.size());
  taken.ess = EffectiveSampleSize(sum, taken.values.squaredNorm(), taken.size());
  taken.max_weight = taken.values.maxCoeff() / sum;
  taken.values *= weights.scale == WeightScale::kSum
                      ? 1.0 / sum
                      : static_cast<double>(weights.size()) / static_cast<double>(taken.size());
  return taken;
}

}  // namespace lfiw::experiments
