#ifndef LFIW_OPE_EPISODE_TERMS_H_
#define LFIW_OPE_EPISODE_TERMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"

namespace lfiw::ope {

// What a column adds whose denominators sum to 0.
enum class EmptyColumns {
  kUndefined,  // there is no value
  kNothing,    // 0: the column corrects what other columns estimate
};

// Most estimators are sums of ratios of sums over episodes,
//   value = sum_k [ sum_i numerators(i, k) / sum_i denominators(i, k) ],
// which is all that standard errors, the jackknife and the bootstrap over episodes need. Each
// column k may be scaled freely (numerators and denominators alike), which keeps weights in range.
struct EpisodeTerms {
  Array<double, 2> numerators;    // [n, K]
  Array<double, 2> denominators;  // [n, K], >= 0; or [n, 0]: plain means, every denominator is 1
  EmptyColumns empty_columns = EmptyColumns::kUndefined;

  std::int64_t episodes() const { return numerators.shape()[0]; }
  std::int64_t columns() const { return numerators.shape()[1]; }
  bool empty() const { return numerators.empty(); }
};

// The value; none where a column that must not be empty is, or a number leaves the range of double.
std::optional<double> ValueOf(const EpisodeTerms& terms);

// What each episode adds to n times the deviation of the value from its expectation, to first order
// (the influence function): sum_k [ numerators(i, k) - ratio_k denominators(i, k) ] / mean_k. [n].
// Their mean is 0. The terms must have a value.
std::vector<double> Influence(const EpisodeTerms& terms);

// Standard error of the value by the delta method: standard deviation of Influence / sqrt(n). None
// for fewer than two episodes or without a value.
std::optional<double> StandardErrorOf(const EpisodeTerms& terms);

// Values of `resamples` bootstraps: each draws n episodes with replacement, by a stream named by
// `seed` and the number of the bootstrap. A resample without a value is left
// out of the result. Work: GEMMs of [resamples, n] by [n, K].
std::vector<double> BootstrapValues(const EpisodeTerms& terms, std::int64_t resamples,
                                    std::uint64_t seed);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_EPISODE_TERMS_H_
