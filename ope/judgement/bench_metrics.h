#ifndef LFIW_OPE_JUDGEMENT_BENCH_METRICS_H_
#define LFIW_OPE_JUDGEMENT_BENCH_METRICS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/arrays/array.h"
#include "core/layers.h"

namespace lfiw::ope {

// How well estimates agree with known values, over policies, seeds or both. `estimates` and
// `truths` [n] belong together; all are finite.

struct ErrorMetrics {
  double bias = 0.0;  // mean of estimate - truth
  double mae = 0.0;   // mean absolute error
  double rmse = 0.0;
  // Mean of |estimate - truth| / |truth|; none where a truth is 0.
  std::optional<double> relative;
};
// Measures the errors of n >= 1 estimates.
ErrorMetrics MeasureErrors(std::span<const double> estimates, std::span<const double> truths);

// Returns Spearman's rank correlation, ties at their mean rank. None for n < 2 or where one side is
// all ties.
std::optional<double> SpearmanCorrelation(std::span<const double> estimates,
                                          std::span<const double> truths);

// Returns Kendall's tau-b. None for n < 2 or where one side is all ties.
std::optional<double> KendallCorrelation(std::span<const double> estimates,
                                         std::span<const double> truths);

// Returns what choosing the best of the k policies with the highest estimates loses against
// choosing the best of all, as a share of the range of the true values (Fu et al. 2021, DOPE): (max
// truth - max of truths of the top k) / (max truth - min truth). Equal estimates are ordered by
// their position. 1 <= k <= n; none where all truths are equal.
std::optional<double> RegretAtK(std::span<const double> estimates, std::span<const double> truths,
                                std::int64_t k);

// Returns the share of the k policies with the highest estimates that are among the k truly best.
double TopKPrecision(std::span<const double> estimates, std::span<const double> truths,
                     std::int64_t k);

// Measures how far the evaluated policy is from the one that logged, from the log: the mean over
// logged steps of log pi_b(a|s) - log pi_e(a|s), which estimates the relative entropy KL(pi_b ||
// pi_e) averaged over logged states, in nats per step (the policies' distance of Schulman et al.
// 2015). It is 0 for equal policies, infinite where the evaluation policy cannot act as logged, and
// by chance a little below 0 for close ones. action_log_ratios [n, T] as in EstimatorInputs;
// lengths [n] >= 1.
double PolicyMismatch(const Array<double, 2>& action_log_ratios,
                      std::span<const std::int64_t> lengths);

// Returns the share of the intervals [low, high] that hold their truth. n >= 1.
double Coverage(std::span<const double> lows, std::span<const double> highs,
                std::span<const double> truths);

// Returns that the scores of a benchmark call 0 and 1: of a random and of an expert policy.
struct ReferenceReturns {
  double random = 0.0, expert = 1.0;
};

// Returns the scores of D4RL (Fu et al. 2020, d4rl/infos.py): undiscounted over 1000 steps. None
// for environments that D4RL has no such returns of.
std::optional<ReferenceReturns> D4rlReturns(std::string_view env);

// Returns (value - random) / (expert - random); papers print it times 100.
double NormalizedScore(double value, const ReferenceReturns& reference);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_BENCH_METRICS_H_
