#ifndef LFIW_OPE_ESTIMATORS_IMPORTANCE_WEIGHTS_H_
#define LFIW_OPE_ESTIMATORS_IMPORTANCE_WEIGHTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/array.h"
#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/estimator.h"

namespace lfiw::ope {

// Importance weights of logged episodes from their per-step log-ratios of evaluation to behavior
// policy, and the two kinds of sums that estimators make with them. All from logarithms: products
// of ten thousand ratios of 0.3 or 3 neither vanish nor overflow.

// rho_t, the product of the ratios of steps 0 .. t, or the ratio of step t alone (which does not
// correct the distribution of states; other tools have it).
enum class RatioProduct { kCumulated, kStep };
constexpr auto EnumNames(RatioProduct /*kind*/) {
  return std::to_array<std::string_view>({"cumulated", "step"});
}

// What an episode weighs after its end. Only the first is right where survival depends on actions;
// the others reproduce other tools.
enum class FinishedEpisodes {
  kCarry,  // its last weight is carried forward
  kDrop,   // it leaves sums and counts
  kOne,    // its weight becomes 1
};
constexpr auto EnumNames(FinishedEpisodes /*kind*/) {
  return std::to_array<std::string_view>({"carry", "drop", "one"});
}

struct RatioOptions {
  std::string ratio = "action";  // of EstimatorInputs::log_ratios
  RatioProduct product = RatioProduct::kCumulated;
  FinishedEpisodes finished = FinishedEpisodes::kCarry;
  // Limits of the log-ratio of one step; policy_eval (Fu et al. 2021) takes [-6, 2].
  std::optional<double> min_log_ratio, max_log_ratio;
  std::optional<double> max_weight;  // of the product; absolute, not self-normalized

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("ratio", ratio, "fitted or exact ratio per step");
    v.Field("product", product, "weight of a step: product of the ratios up to it, or its own");
    v.Field("finished", finished, "what an episode weighs after its end");
    v.Field("min_log_ratio", min_log_ratio, "smaller log-ratios of a step are raised to it");
    v.Field("max_log_ratio", max_log_ratio, "larger log-ratios of a step are lowered to it");
    v.Field("max_weight", max_weight, "larger weights are lowered to it", Positive());
  }
};

// What differs from the defaults, "finished=drop max_log_ratio=2", for the name of a row.
std::string Describe(const RatioOptions& options);

struct ImportanceWeights {
  // [n, base + K], K the length of the longest episode; -inf is a weight of zero, or with kDrop an
  // episode that has ended. The base columns are 0.
  Array<double, 2> log_weights;
  std::vector<double> last;  // [n], of the last step of each episode
  // What clipping changed; empty without.
  std::vector<std::string> notes;
};

// Weights of the episodes `rows` of the inputs, after `base` columns of weight 1. Log-ratios after
// an episode's end are not read. Throws DataError where one is beyond any density ratio,
// ConfigError where limits cross.
ImportanceWeights MakeImportanceWeights(const EstimatorInputs& inputs,
                                        std::span<const std::int64_t> rows,
                                        const RatioOptions& options, std::int64_t base = 0);
// The same without log_weights, which a weighing of whole episodes does not need.
ImportanceWeights MakeEpisodeWeights(const EstimatorInputs& inputs,
                                     std::span<const std::int64_t> rows,
                                     const RatioOptions& options);

// What is summed: outcomes x [n, K] under weights w, of which the first `base` columns are 1.
struct WeightedColumns {
  Array<double, 2> log_weights;  // [n, K]
  Array<double, 2> outcomes;     // [n, K]
  std::int64_t base = 0;         // 0 or 1
};

// The sum over columns of self-normalized means, sum_k [ sum_i w_ik x_ik / sum_i w_ik ], as terms
// whose largest weight of each column is 1. Refuses where all weights of a column are zero.
Estimate SelfNormalizedSum(WeightedColumns columns);

// The same with n in place of the sums of weights, so that a single column of terms is enough;
// counts [K] in place of n where given. An answer beyond double's range is its log10: with a reason
// and no value above, beside the value 0 below. Refuses as above.
Estimate PlainSum(WeightedColumns columns, std::span<const double> counts = {});

// Fills ess, khat and max_weight from one set of log-weights; an ESS of 0 without support.
void AddDiagnostics(std::span<const double> log_weights, Estimate& estimate);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ESTIMATORS_IMPORTANCE_WEIGHTS_H_
