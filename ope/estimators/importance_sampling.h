#ifndef LFIW_OPE_ESTIMATORS_IMPORTANCE_SAMPLING_H_
#define LFIW_OPE_ESTIMATORS_IMPORTANCE_SAMPLING_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/estimator.h"
#include "ope/estimators/importance_weights.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {

// Importance sampling on the log (Precup, Sutton and Singh 2000). With rho_t the product of the
// ratios of evaluation to behavior policy of steps 0 .. t, g the discount, n episodes i:
//   trajectory    (1/n) sum_i rho_i R_i, rho_i of the whole episode, R_i its return   (IS)
//   per decision  (1/n) sum_i sum_t g^t rho_it r_it                                 (PDIS)
// or with the sum of the weights in place of n, at each t of its own (WIS, WPDIS). The unnormalized
// ones are unbiased, the others consistent and bounded by the rewards seen.
enum class WeightedBy { kTrajectory, kStep };
constexpr auto EnumNames(WeightedBy /*kind*/) {
  return std::to_array<std::string_view>({"trajectory", "per_decision"});
}

// What becomes of episodes that a time limit cut before the horizon: their return is unknown. To
// leave them out would keep those that ended early, whatever the actions.
enum class CutEpisodes {
  // Those that are not cut stand for them: what an episode gets at step t weighs 1 / S_c(t) times
  // as much, S_c(t) the share that is not cut before that step (the product-limit estimate of
  // Kaplan
  // and Meier 1958). Right where being cut does not depend on what happens in the episode.
  kWeigh,
  kRefuse,
};
constexpr auto EnumNames(CutEpisodes /*kind*/) {
  return std::to_array<std::string_view>({"weigh", "refuse"});
}

struct ImportanceSamplingOptions {
  WeightedBy weighted_by = WeightedBy::kTrajectory;
  WeightNormalization normalization = WeightNormalization::kSelf;
  CutEpisodes cut = CutEpisodes::kWeigh;
  RatioOptions ratios;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("weighted_by", weighted_by, "weights of whole returns, or of each reward");
    v.Field("normalization", normalization, "divide by the sum of the weights, or by n");
    v.Field("cut", cut, "episodes that a time limit ended before the horizon");
    v.Field("ratios", ratios, "weights from ratios per step");
  }
};

// Name of the rows of such an estimator: is, wis, pdis or wpdis, and what differs from its usual
// form: "wpdis finished=drop".
std::string ImportanceSamplingName(const ImportanceSamplingOptions& options);

// ESS, k-hat and max_weight are of the weights at the end of the episodes; with ratios.product step
// the mean ESS over steps and the largest of the others. Refuses without support, and where more
// than a twentieth of the episodes is cut where none goes on. Arrays are checked by RunEstimator,
// which adds value and standard error.
Estimate EstimateImportanceSampling(const EstimatorInputs& inputs, const Estimand& estimand,
                                    const ImportanceSamplingOptions& options);

// The estimator of these options, by that name.
Estimator ImportanceSampling(const ImportanceSamplingOptions& options);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ESTIMATORS_IMPORTANCE_SAMPLING_H_
