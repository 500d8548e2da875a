#ifndef LFIW_OPE_TRUTH_H_
#define LFIW_OPE_TRUTH_H_

#include <cstdint>
#include <optional>
#include <span>

#include "core/episode_batch.h"
#include "ope/value.h"

namespace lfiw {

// The value of a policy, by Monte Carlo: from episodes of that policy in the real environment.
struct TruthSummary {
  double value = 0.0;
  std::optional<double> standard_error;  // over episodes; needs two of them
  std::int64_t episodes = 0;
};

// From the return of each episode, [episodes]. Throws DataError when there is none or one is not
// finite.
TruthSummary SummariseTruth(std::span<const double> returns);

// From whole episodes of a horizon of `horizon` steps, of which an episode may have fewer (its
// later rewards are 0) but not more.
TruthSummary SummariseTruth(const EpisodeBatch& episodes, std::int64_t horizon,
                            const ValueOptions& value);

}  // namespace lfiw

#endif  // LFIW_OPE_TRUTH_H_
