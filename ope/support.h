#ifndef LFIW_OPE_SUPPORT_H_
#define LFIW_OPE_SUPPORT_H_

#include <cstdint>

#include "core/episode_batch.h"
#include "core/matrix.h"
#include "core/visitor.h"

namespace lfiw {

struct SupportOptions {
  std::int64_t reference_rows = 5000;
  std::int64_t query_rows = 2000;
  double quantile = 0.99;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("reference_rows", reference_rows, "most logged pairs that distances are measured to",
            AtLeast(1));
    v.Field("query_rows", query_rows, "most queried, and most held-out logged pairs", AtLeast(1));
    v.Field("quantile", quantile,
            "a pair is outside beyond this quantile of the held-out pairs' distances",
            Between(0.0, 1.0));
  }
};

// How far a policy's state-action pairs lie from those of a log.
struct SupportCheck {
  // Share of the queried pairs that are farther from the log than `quantile` of its own held-out
  // pairs are: about 1 - quantile for pairs of the log's own distribution.
  double outside = 0.0;
  // Median distance of the queried pairs / median distance of the held-out pairs. Where the latter
  // is 0 (discrete logs that repeat themselves): 1 if the former is too, else infinity.
  double median_ratio = 0.0;
  std::int64_t queries = 0;  // pairs measured
};

// Measures the Euclidean distance from each pair (states, actions) [m, obs_dim], [m, action_dim] to
// its nearest neighbour in the log, in z-scored dimensions, and compares it with the distances of
// logged pairs from episodes that the neighbours are not taken from. Dimensions that are constant
// in the log have no distance, but a queried pair that differs there is infinitely far. Which pairs
// stand for log and policy, where there are more than asked for, follows from `seed`.
// Throws DataError for a log of fewer than two episodes, for no pairs, for pairs of other
// dimensions and for one that is not finite.
SupportCheck MeasureSupport(const EpisodeBatch& log, const MatrixF& states, const MatrixF& actions,
                            const SupportOptions& options, std::uint64_t seed);

}  // namespace lfiw

#endif  // LFIW_OPE_SUPPORT_H_
