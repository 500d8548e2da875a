#ifndef LFIW_OPE_JUDGEMENT_PSIS_H_
#define LFIW_OPE_JUDGEMENT_PSIS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/layers.h"

namespace lfiw::ope {

// Pareto smoothed importance sampling (Vehtari, Simpson, Gelman, Yao and Gabry 2024): the shape k
// of the tail of the weights says whether their average can be trusted at this sample size.

// Shape and scale of a generalized Pareto distribution, density
// (1 + k x / sigma)^(-1/k - 1) / sigma on x >= 0; k > 0 is a power tail, k < 0 a bounded one.
struct GeneralizedPareto {
  double k = 0.0;
  double sigma = 0.0;
  // Returns the value below which a fraction p of the distribution lies; p in [0, 1).
  double Quantile(double p) const;
};

// Fits a generalized Pareto distribution to exceedances by the quasi-Bayesian profile likelihood of
// Zhang and Stephens (2009), without any prior on k. `excesses` ascending and > 0. When all are
// equal there is no tail: k = -1, sigma = 0.
GeneralizedPareto FitGeneralizedPareto(std::span<const double> excesses);

// Why a tail has or has not a k-hat.
enum class TailStatus { kFitted, kAllEqual, kTooFewPoints };

struct TailFit {
  TailStatus status = TailStatus::kTooFewPoints;
  std::optional<double> khat;  // present exactly when status is kFitted
};
std::string TailReason(TailStatus status);

// Returns the number of largest weights that form the tail of n: ceil(min(n / 5, 3 sqrt(n))).
std::int64_t TailSize(std::int64_t n);

// Returns k-hat of the weights whose logarithms are given, [n], any order, -inf allowed: the fit to
// the TailSize(n) largest, then drawn towards 0.5 by a prior worth ten points. Values that differ
// by less than 1e-9 count as equal; ties with the tail's lower end are not part of the tail.
TailFit FitTail(std::span<const double> log_weights);

// Returns k-hat from the largest of n log-weights alone, descending; at least TailSize(n) + 1 of
// them (or all n). It is for callers that keep the largest values of a growing pool.
TailFit FitLargest(std::span<const double> largest, std::int64_t n);

// Replaces the tail by the quantiles of its fit, none above the largest raw weight, and returns the
// fit. Weights without a fitted tail stay as they are.
TailFit SmoothTail(std::span<double> log_weights);

// Returns the k below which estimates from n weights are reliable: min(1 - 1 / log10(n), 0.7), at
// least 0.
double KhatThreshold(std::int64_t n);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_PSIS_H_
