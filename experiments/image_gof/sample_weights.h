#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_SAMPLE_WEIGHTS_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_SAMPLE_WEIGHTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::experiments {

// What weights are divided by: their number (the paper's equation 5) or their sum (equation 6).
enum class WeightScale { kNumber, kSum };
constexpr auto EnumNames(WeightScale /*kind*/) {
  return std::to_array<std::string_view>({"none", "self"});
}

// The weights of n samples: E[f] is estimated by sum_i values[i] f(x_i).
struct SampleWeights {
  VectorD values;  // [n], >= 0; they sum to 1 with kSum
  WeightScale scale = WeightScale::kSum;
  double ess = 0.0;         // Kish's effective sample size, in [1, n]
  double max_weight = 0.0;  // the largest share of one sample, in [1 / n, 1]
  double alpha = 1.0;       // the power of the weights
  std::int64_t clipped = 0;

  std::int64_t size() const { return values.size(); }
};

// Which classifiers' odds weights are made from.
enum class RatioSource { kPlain, kSmoothed };

// Log-weights of m generated samples by the plain classifiers and, unless it is empty, by those of
// smoothed features.
struct SampleRatios {
  std::span<const double> plain;          // [m]
  std::span<const double> smoothed = {};  // [m]
  double noise = 0.0;                     // of the smoothed ones
  double share = 0.1;                     // of the samples that these shall be worth

  std::span<const double> Of(RatioSource source) const {
    return source == RatioSource::kSmoothed ? smoothed : plain;
  }
};

// One of the paper's estimators: w^alpha, at least beta, divided by n or by the sum.
struct WeightVariant {
  std::string name;    // "self_normalized"
  std::string params;  // "alpha=0.5" or empty
  double alpha = 1.0;
  double beta = 0.0;
  WeightScale scale = WeightScale::kNumber;
  // Above 0: alpha is the largest of at most 1 with which the weights are worth this share of the
  // samples.
  double ess_share = 0.0;
  RatioSource ratios = RatioSource::kPlain;
};

// The paper's table: default, self-normalized, flattened and clipped weights.
std::vector<WeightVariant> PaperVariants(std::span<const double> alphas,
                                         std::span<const double> betas);

// The name of variants whose alpha follows from the weights.
inline constexpr const char* kTemperedWeights = "tempered";

// Self-normalized weights w^alpha for each share of the samples that they shall be worth.
std::vector<WeightVariant> TemperedVariants(std::span<const double> ess_shares);

inline constexpr const char* kSmoothedWeights = "smoothed";

// The self-normalized weights of smoothed features, flattened only where they are worth less than
// their share.
WeightVariant SmoothedVariant(const SampleRatios& ratios);

// Returns the largest alpha in [0, 1], to the twelfth digit, with which n weights are worth at
// least `share` of them by `ess`, their effective sample size, which falls with alpha. To be worth
// all of them weights must be all alike: alpha is 0.
double LargestAlpha(double share, std::size_t n, const std::function<double(double alpha)>& ess);

// Returns the largest alpha in [0, 1] with which w^alpha has an effective sample size of at least
// `ess_share` n. Weights whose supports hardly overlap tell samples apart by traces that all of
// them have; a small alpha keeps their order and lets many count. Where zeros leave too few
// samples, alpha is 0 and all samples count alike. Chosen from the weights alone, without any
// metric.
double TemperedAlpha(std::span<const double> log_weights, double ess_share);

// TemperedAlpha, or `alpha` where the share is 0.
double WeightExponent(std::span<const double> log_weights, double ess_share, double alpha);

// Weights 1 / n.
SampleWeights UniformWeights(std::int64_t n);

// log_weights [n], n >= 1; -inf is a weight of 0. Throws NumericError when every weight is 0 or,
// with kNumber, one leaves the range of a double.
SampleWeights MakeWeights(std::span<const double> log_weights, const WeightVariant& variant);

// Those of some samples, normalized anew with kSum and in proportion to the share of the samples
// taken with kNumber. Throws NumericError when all of them are 0.
SampleWeights TakeWeights(const SampleWeights& weights, std::span<const std::int64_t> samples);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_SAMPLE_WEIGHTS_H_
