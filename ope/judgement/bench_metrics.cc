#include "ope/judgement/bench_metrics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

// Returns positions in ascending order of the values, equal ones by position.
std::vector<std::size_t> Order(std::span<const double> values) {
  std::vector<std::size_t> order = IndexList(values.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

// Returns ranks from 1, ties at their mean.
std::vector<double> Ranks(std::span<const double> values) {
  const std::vector<std::size_t> order = Order(values);
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = 0.5 * static_cast<double>(begin + 1 + end);
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = mean;
    begin = end;
  }
  return ranks;
}

std::vector<std::size_t> TopK(std::span<const double> values, std::int64_t k) {
  LFIW_ASSERT(k >= 1 && k <= std::ssize(values));
  std::vector<std::size_t> order = IndexList(values.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  order.resize(static_cast<std::size_t>(k));
  return order;
}

int Sign(double x) { return (x > 0.0) - (x < 0.0); }

}  // namespace

ErrorMetrics MeasureErrors(std::span<const double> estimates, std::span<const double> truths) {
  LFIW_ASSERT(!estimates.empty() && estimates.size() == truths.size());
  std::vector<double> errors, sizes, squares, shares;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    errors.push_back(estimates[i] - truths[i]);
    sizes.push_back(std::abs(errors.back()));
    squares.push_back(errors.back() * errors.back());
    if (truths[i] != 0.0) shares.push_back(sizes.back() / std::abs(truths[i]));
  }
  ErrorMetrics metrics{
      .bias = Mean(errors), .mae = Mean(sizes), .rmse = std::sqrt(Mean(squares)), .relative = {}};
  if (shares.size() == truths.size()) metrics.relative = Mean(shares);
  return metrics;
}

std::optional<double> SpearmanCorrelation(std::span<const double> estimates,
                                          std::span<const double> truths) {
  LFIW_ASSERT(estimates.size() == truths.size());
  if (truths.size() < 2) return {};
  const std::vector<double> a = Ranks(estimates), b = Ranks(truths);
  const double mean = 0.5 * static_cast<double>(truths.size() + 1);
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  if (aa == 0.0 || bb == 0.0) return {};
  return ab / std::sqrt(aa * bb);
}

std::optional<double> KendallCorrelation(std::span<const double> estimates,
                                         std::span<const double> truths) {
  LFIW_ASSERT(estimates.size() == truths.size());
  double agreement = 0.0, estimate_pairs = 0.0, truth_pairs = 0.0;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int a = Sign(estimates[i] - estimates[j]), b = Sign(truths[i] - truths[j]);
      agreement += a * b;
      estimate_pairs += a != 0;
      truth_pairs += b != 0;
    }
  }
  if (estimate_pairs == 0.0 || truth_pairs == 0.0) return {};
  return agreement / std::sqrt(estimate_pairs * truth_pairs);
}

std::optional<double> RegretAtK(std::span<const double> estimates, std::span<const double> truths,
                                std::int64_t k) {
  LFIW_ASSERT(estimates.size() == truths.size());
  const auto [lowest, highest] = std::ranges::minmax(truths);
  double best = lowest;
  for (const std::size_t i : TopK(estimates, k)) best = std::max(best, truths[i]);
  if (highest == lowest) return {};
  return (highest - best) / (highest - lowest);
}

double TopKPrecision(std::span<const double> estimates, std::span<const double> truths,
                     std::int64_t k) {
  LFIW_ASSERT(estimates.size() == truths.size());
  const std::vector<std::size_t> chosen = TopK(estimates, k), best = TopK(truths, k);
  const auto hits = std::ranges::count_if(
      chosen, [&](std::size_t i) { return std::ranges::find(best, i) != best.end(); });
  return static_cast<double>(hits) / static_cast<double>(k);
}

double PolicyMismatch(const Array<double, 2>& action_log_ratios,
                      std::span<const std::int64_t> lengths) {
  double sum = 0.0, count = 0.0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto row = action_log_ratios.Row(static_cast<std::int64_t>(i));
    for (const double ratio : row.first(static_cast<std::size_t>(lengths[i]))) sum -= ratio;
    count += static_cast<double>(lengths[i]);
  }
  return sum / count;
}

double Coverage(std::span<const double> lows, std::span<const double> highs,
                std::span<const double> truths) {
  LFIW_ASSERT(!truths.empty() && lows.size() == truths.size() && highs.size() == truths.size());
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    inside += truths[i] >= lows[i] && truths[i] <= highs[i];
  }
  return static_cast<double>(inside) / static_cast<double>(truths.size());
}

std::optional<ReferenceReturns> D4rlReturns(std::string_view env) {
  if (env == "HalfCheetah") return ReferenceReturns{-280.178953, 12135.0};
  if (env == "Hopper") return ReferenceReturns{-20.272305, 3234.3};
  if (env == "Walker2d") return ReferenceReturns{1.629008, 4592.3};
  if (env == "Ant" || env == "Ant-v2") return ReferenceReturns{-325.6, 3879.7};
  return {};
}

double NormalizedScore(double value, const ReferenceReturns& reference) {
  return (value - reference.random) / (reference.expert - reference.random);
}

}  // namespace lfiw::ope
