#ifndef LFIW_OPE_ROLLOUTS_LFIW_OPTIONS_H_
#define LFIW_OPE_ROLLOUTS_LFIW_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"

namespace lfiw::ope {

// Likelihood-free importance weighting of model rollouts (Grover et al. 2019, section 5.3): each
// step of a rollout carries log w_t, the log-ratio of real to modeled transition density that a
// classifier gives it, and the first H steps of weights correct the estimate. With
// rho_t = w_0 w_1 ... w_t and g the discount, for n episodes i of T steps, H >= 1:
//   trajectory      sum_i rho_{i,H-1} R_i / sum_j rho_{j,H-1}, R the return
//   per_decision    sum_t g^t [sum_i rho_{i,s} r_{i,t} / sum_j rho_{j,s}], s = min(t, H - 1)
//   stepwise        the same with w_{i,t} in place of rho for t < H and 1 from H on
//   stepwise_batch  stepwise with one normalizer, the mean of w over all n H transitions
// Without normalization the last two are the same estimator. H = 0 weighs nothing: the plain model
// estimate, bit for bit. Stepwise weights never correct the distribution of states, and act only
// because r_t depends on the next state.
enum class LfiwVariant { kTrajectory, kPerDecision, kStepwise, kStepwiseBatch };
constexpr auto EnumNames(LfiwVariant /*kind*/) {
  return std::to_array<std::string_view>(
      {"trajectory", "per_decision", "stepwise", "stepwise_batch"});
}

// kSelf divides by the sum of the weights, as above; kNone by n.
enum class WeightNormalization { kNone, kSelf };
constexpr auto EnumNames(WeightNormalization /*kind*/) {
  return std::to_array<std::string_view>({"none", "self"});
}

// How several classifiers become one number. kEstimates: the mean of their estimates (the paper).
// kLogWeights: one estimate from the mean of their log-weights, of lower variance. kDiagonal:
// classifier c weighs repetition c only (R = C), which makes the repetitions independent of each
// other in the classifier as well.
enum class ClassifierAverage { kEstimates, kLogWeights, kDiagonal };
constexpr auto EnumNames(ClassifierAverage /*kind*/) {
  return std::to_array<std::string_view>({"estimates", "log_weights", "diagonal"});
}

// Horizons at which k-hat is fitted; a fit costs more than the rest of a horizon.
enum class KhatHorizons { kAll, kListed };
constexpr auto EnumNames(KhatHorizons /*kind*/) {
  return std::to_array<std::string_view>({"all", "listed"});
}

// kPareto replaces the largest weights of each set by quantiles of the fitted tail (SmoothTail),
// after the clip.
enum class WeightSmoothing { kNone, kPareto };
constexpr auto EnumNames(WeightSmoothing /*kind*/) {
  return std::to_array<std::string_view>({"none", "pareto"});
}

struct LfiwOptions {
  // Above it weights are sharpened beyond any use.
  static constexpr double kMaxAlpha = 10.0;

  LfiwVariant variant = LfiwVariant::kTrajectory;
  WeightNormalization normalization = WeightNormalization::kSelf;
  // Exponent of the weights: 1 leaves them, 0 makes all of them 1.
  double alpha = 1.0;
  // Lower bound of the weight that multiplies a sample: rho_{H-1}, rho_t or w_t of the variant.
  double beta = 0.0;
  WeightSmoothing smoothing = WeightSmoothing::kNone;
  ClassifierAverage average = ClassifierAverage::kEstimates;
  KhatHorizons khat = KhatHorizons::kAll;
  std::vector<std::int64_t> khat_horizons;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("variant", variant, "which weights multiply which rewards");
    v.Field("normalization", normalization, "divide by the sum of the weights, or by n");
    v.Field("alpha", alpha, "exponent that flattens the weights", Between(0.0, kMaxAlpha));
    v.Field("beta", beta, "lower bound that clips the weights", AtLeast(0.0));
    v.Field("smoothing", smoothing, "replace the largest weights by their fitted tail");
    v.Field("average", average, "how several classifiers become one estimate");
    v.Field("khat", khat, "fit k-hat at all horizons or at those of khat_horizons");
    v.Field("khat_horizons", khat_horizons, "horizons whose k-hat is fitted", AtLeast(0.0));
  }
};

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_LFIW_OPTIONS_H_
