#ifndef LFIW_OPE_JUDGEMENT_SUPPORT_H_
#define LFIW_OPE_JUDGEMENT_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <span>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/matrix.h"

namespace lfiw::ope {

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
  // `outside` of the quarter of the steps where it is largest, of quarters with any queries.
  double worst_quarter = 0.0;
  std::int64_t queries = 0;  // pairs measured

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("outside", outside);
    v.Field("median_ratio", median_ratio);
    v.Field("worst_quarter", worst_quarter);
    v.Field("queries", queries);
  }
};

// What a policy does: pairs of states and actions with the steps at which they were visited.
struct VisitedPairs {
  const MatrixF& states;                // [m, obs_dim]
  const MatrixF& actions;               // [m, action_dim]
  std::span<const std::int64_t> steps;  // [m], in 0 .. horizon - 1
  std::int64_t horizon = 0;
};

// The distances that a log's own pairs have from each other, to hold those of policies against.
// Measures the Euclidean distance from each pair to its nearest neighbor in the log, in z-scored
// dimensions, and compares it with the distances of logged pairs from episodes that the neighbors
// are not taken from. Dimensions that are constant in the log have no distance, but a queried pair
// that differs there is infinitely far. Which pairs stand for log and policy, where there are more
// than asked for, follows from `seed`.
class LogSupport {
 public:
  // Keeps the pairs that distances are measured to. Throws DataError for a log of fewer than two
  // episodes.
  LogSupport(const EpisodeBatch& log, const SupportOptions& options, std::uint64_t seed);
  ~LogSupport();
  LogSupport(LogSupport&&) noexcept;

  // Measures how far the visited pairs are from the log. Throws DataError for no pairs, for pairs
  // of other dimensions and for one that is not finite.
  SupportCheck Measure(const VisitedPairs& visited) const;

 private:
  struct Reference;
  std::unique_ptr<const Reference> reference_;
};

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_SUPPORT_H_
