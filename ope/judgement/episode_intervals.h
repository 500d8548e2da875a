#ifndef LFIW_OPE_JUDGEMENT_EPISODE_INTERVALS_H_
#define LFIW_OPE_JUDGEMENT_EPISODE_INTERVALS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/episode_terms.h"
#include "ope/judgement/backtest.h"

namespace lfiw::ope {

// Intervals for an estimate from its episodes, everything that was fitted held fixed.
enum class EpisodeIntervalMethod {
  kStudentT,            // value +- t(n - 1) standard errors (delta method)
  kPercentile,          // percentiles of the bootstrap over episodes (Efron 1979)
  kBca,                 // bias-corrected and accelerated (Efron 1987)
  kHoeffding,           // for plain means of bounded terms
  kEmpiricalBernstein,  // the same with the sample variance (Maurer and Pontil 2009, theorem 4)
  kHcope,               // lower bound alone, heavy upper tails cut (Thomas et al. 2015, theorem 1)
};
constexpr auto EnumNames(EpisodeIntervalMethod /*kind*/) {
  return std::to_array<std::string_view>(
      {"student_t", "percentile", "bca", "hoeffding", "empirical_bernstein", "hcope"});
}

struct EpisodeIntervalOptions {
  EpisodeIntervalMethod method = EpisodeIntervalMethod::kBca;
  double level = 0.95;
  std::int64_t resamples = 2000;
  std::uint64_t seed = 0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("method", method, "how intervals are made from episodes");
    v.Field("level", level, "coverage aimed at", Between(0.5, 0.999));
    v.Field("resamples", resamples, "bootstrap resamples", AtLeast(40));
    v.Field("seed", seed, "seed of the bootstrap");
  }
};

struct EpisodeInterval {
  std::optional<double> low, high;  // an absent end is infinite
  std::string reason;               // why there is no interval; empty if there is one
  std::string assumes;              // what its level rests on, in words
  // At least the level by construction, not about the level.
  bool conservative = false;
};

// `range` bounds the contribution of one episode (the sum of its numerators); the last three
// methods need it, apply to plain means alone (denominators [n, 0]) and refuse otherwise. kHcope
// needs its lower end only. Fewer than two episodes refuse.
EpisodeInterval MakeEpisodeInterval(const EpisodeTerms& terms,
                                    const EpisodeIntervalOptions& options,
                                    const std::optional<ReturnRange>& range = {});

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_EPISODE_INTERVALS_H_
