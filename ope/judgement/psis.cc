#include "ope/judgement/psis.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"

namespace lfiw::ope {
namespace {

// Log-weights closer than this are equal: sums of thousands of logits resolve no more.
constexpr double kEqual = 1e-9;
// Fewer exceedances than this say nothing about a tail.
constexpr std::int64_t kMinTailPoints = 5;
// Keeps excesses of weights that differ by hundreds of nats representable; k-hat is then far above
// any threshold whatever the floor.
constexpr double kSmallestExcess = 1e-290;
// The prior on k: this many points at 0.5.
constexpr double kPriorPoints = 10.0;

double WithPrior(double k, double points) {
  return (k * points + 0.5 * kPriorPoints) / (points + kPriorPoints);
}

// Returns the mean of log(1 - theta x): the k that maximizes the likelihood for a given theta = -k
// / sigma. Eigen vectorizes log but not log1p; what it loses near 0 is far below the noise of a
// fit.
double ProfileK(double theta, const Eigen::ArrayXd& x) { return (1.0 - theta * x).log().mean(); }

// Returns the excess of exp(log_weight) over exp(cutoff), in units of exp(unit).
double Excess(double log_weight, double cutoff, double unit) {
  const double gap = log_weight - cutoff;
  const double excess = gap < 0.5 ? std::exp(cutoff - unit) * std::expm1(gap)
                                  : std::exp(log_weight - unit) - std::exp(cutoff - unit);
  return std::max(excess, kSmallestExcess);
}

struct Tail {
  std::vector<double> excesses;  // ascending, in units of the largest weight
  double cutoff = 0.0;           // log-weight at which the tail begins
  TailStatus status = TailStatus::kFitted;
};

// Cuts the tail off the largest of n log-weights, given in descending order.
Tail CutTail(std::span<const double> largest, std::int64_t n) {
  Tail tail;
  const std::int64_t size = TailSize(n);
  if (size < kMinTailPoints) {
    tail.status = TailStatus::kTooFewPoints;
    return tail;
  }
  LFIW_ASSERT(static_cast<std::int64_t>(largest.size()) > size);
  const double top = largest[0];
  tail.cutoff = largest[static_cast<std::size_t>(size)];
  if (!(top - tail.cutoff >= kEqual)) {  // also when both are -inf
    tail.status = TailStatus::kAllEqual;
    return tail;
  }
  for (std::size_t i = static_cast<std::size_t>(size); i-- > 0;) {
    if (largest[i] - tail.cutoff >= kEqual) {
      tail.excesses.push_back(Excess(largest[i], tail.cutoff, top));
    }
  }
  const std::size_t points = tail.excesses.size();
  if (static_cast<std::int64_t>(points) < kMinTailPoints) {
    tail.status = TailStatus::kTooFewPoints;
  } else if (top - largest[points - 1] < kEqual) {
    tail.status = TailStatus::kAllEqual;
  }
  return tail;
}

// Returns the TailSize(n) + 1 largest values in descending order.
std::vector<double> SelectLargest(std::span<const double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  const std::int64_t keep = std::min(n, TailSize(n) + 1);
  std::vector<double> copy(values.begin(), values.end());
  std::nth_element(copy.begin(), copy.begin() + (keep - 1), copy.end(), std::greater<>());
  copy.resize(static_cast<std::size_t>(keep));
  std::sort(copy.begin(), copy.end(), std::greater<>());
  return copy;
}

}  // namespace

double GeneralizedPareto::Quantile(double p) const {
  if (std::abs(k) < 1e-12) return -sigma * std::log1p(-p);
  return sigma * std::expm1(-k * std::log1p(-p)) / k;
}

GeneralizedPareto FitGeneralizedPareto(std::span<const double> excesses) {
  LFIW_ASSERT(!excesses.empty() && excesses.front() > 0.0);
  if (excesses.front() == excesses.back()) return {.k = -1.0, .sigma = 0.0};
  const auto n = static_cast<Eigen::Index>(excesses.size());
  const Eigen::ArrayXd x = Eigen::Map<const Eigen::ArrayXd>(excesses.data(), n);
  const Eigen::Index grid = 30 + static_cast<Eigen::Index>(std::sqrt(static_cast<double>(n)));
  const Eigen::Index quartile = std::max<Eigen::Index>(1, (n + 2) / 4) - 1;

  // profile log-likelihood on a grid of theta that thins out away from 1 / max x
  Eigen::ArrayXd theta(grid), likelihood(grid);
  for (Eigen::Index j = 0; j < grid; ++j) {
    const double spread = std::sqrt(static_cast<double>(grid) / (static_cast<double>(j) + 0.5));
    theta[j] = 1.0 / x[n - 1] + (1.0 - spread) / (3.0 * x[quartile]);
    const double k = ProfileK(theta[j], x);
    const double inverse_sigma = k == 0.0 ? 1.0 / x.mean() : -theta[j] / k;
    likelihood[j] = static_cast<double>(n) * (std::log(inverse_sigma) - k - 1.0);
  }

  // posterior mean of theta
  const Eigen::ArrayXd posterior = (likelihood - likelihood.maxCoeff()).exp();
  const double mean = (theta * posterior).sum() / posterior.sum();
  const double k = ProfileK(mean, x);
  return {.k = k, .sigma = k == 0.0 ? x.mean() : -k / mean};
}

std::string TailReason(TailStatus status) {
  switch (status) {
    case TailStatus::kFitted:
      return "";
    case TailStatus::kAllEqual:
      return "the largest weights are equal";
    case TailStatus::kTooFewPoints:
      return "fewer than 5 weights in the tail";
  }
  return "";
}

std::int64_t TailSize(std::int64_t n) {
  const auto count = static_cast<double>(n);
  return static_cast<std::int64_t>(std::ceil(std::min(count / 5.0, 3.0 * std::sqrt(count))));
}

TailFit FitTail(std::span<const double> log_weights) {
  return FitLargest(SelectLargest(log_weights), static_cast<std::int64_t>(log_weights.size()));
}

TailFit FitLargest(std::span<const double> largest, std::int64_t n) {
  const Tail tail = CutTail(largest, n);
  if (tail.status != TailStatus::kFitted) return {.status = tail.status, .khat = std::nullopt};
  const double k = FitGeneralizedPareto(tail.excesses).k;
  return {.status = TailStatus::kFitted,
          .khat = WithPrior(k, static_cast<double>(tail.excesses.size()))};
}

TailFit SmoothTail(std::span<double> log_weights) {
  const auto n = static_cast<std::int64_t>(log_weights.size());
  const std::vector<double> largest = SelectLargest(log_weights);
  const Tail tail = CutTail(largest, n);
  if (tail.status != TailStatus::kFitted) return {.status = tail.status, .khat = std::nullopt};
  GeneralizedPareto fit = FitGeneralizedPareto(tail.excesses);
  const auto points = static_cast<double>(tail.excesses.size());
  fit.k = WithPrior(fit.k, points);

  // ranks of the tail, ascending, ties in index order
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    if (log_weights[i] - tail.cutoff >= kEqual) ranked.emplace_back(log_weights[i], i);
  }
  std::sort(ranked.begin(), ranked.end());
  const double top = largest[0];
  const double base = std::exp(tail.cutoff - top);
  for (std::size_t z = 0; z < ranked.size(); ++z) {
    const double quantile = fit.Quantile((static_cast<double>(z) + 0.5) / points);
    log_weights[ranked[z].second] = top + std::min(0.0, std::log(base + quantile));
  }
  return {.status = TailStatus::kFitted, .khat = fit.k};
}

double KhatThreshold(std::int64_t n) {
  if (n <= 10) return 0.0;
  return std::min(1.0 - 1.0 / std::log10(static_cast<double>(n)), 0.7);
}

}  // namespace lfiw::ope
