#ifndef LFIW_OPE_ESTIMATORS_DOUBLY_ROBUST_H_
#define LFIW_OPE_ESTIMATORS_DOUBLY_ROBUST_H_

#include <cstdint>
#include <string>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/estimator.h"
#include "ope/estimators/importance_weights.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {

// Doubly robust estimation from fitted values and cumulated action ratios rho_t:
//   v = mean_i V_0(s_i0) + sum_t g^t sum_i w_it [ r_it + g V_{t+1}(s_i,t+1) - Q_t(s_it, a_it) ]
// with w_it = rho_it / n (DR, Jiang and Li 2016) or rho_it / sum_j rho_jt (WDR, Thomas and
// Brunskill 2016). Exact in expectation (WDR: in the limit) if the ratios or the values are true.
// An ended episode keeps its last weight; after a terminal state V is 0, and where a time limit cut
// an episode V stands for the rest.
struct DoublyRobustOptions {
  std::string values = "fqe";  // of EstimatorInputs::values
  WeightNormalization normalization = WeightNormalization::kSelf;
  RatioOptions ratios;  // product and finished keep their defaults

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("values", values, "fitted values");
    v.Field("normalization", normalization, "divide by the sum of the weights, or by n");
    v.Field("ratios", ratios, "weights from ratios per step");
  }
};

// ESS, k-hat and max_weight are of the weights at the end of the episodes. Refuses without support
// at some step. Throws ConfigError where ratios.product or ratios.finished is not the default.
// Arrays are checked by RunEstimator, which adds value and standard error.
Estimate EstimateDoublyRobust(const EstimatorInputs& inputs, const Estimand& estimand,
                              const DoublyRobustOptions& options);

// MAGIC (Thomas and Brunskill 2016) blends the model's value with WDR. The j-step return
//   g_j = mean_i V_0(s_i0) + the correction's steps t <= j,  j = -1 (values alone) .. the end (WDR)
// has the weight x_j, x = argmin over the simplex of x' (Omega + b b') x: Omega the covariance of
// the g_j (delta method), b_j the distance of g_j to the bootstrap percentile interval of WDR.
struct MagicOptions {
  DoublyRobustOptions doubly_robust;  // normalization keeps its default
  std::int64_t max_returns = 50;      // of the g_j, evenly over the steps; the cost is its cube
  std::int64_t resamples = 200;       // of the bootstrap over episodes
  double level = 0.9;                 // of WDR's interval
  std::uint64_t seed = 0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("doubly_robust", doubly_robust, "fitted values and weights");
    v.Field("max_returns", max_returns, "largest number of j-step returns", AtLeast(2));
    v.Field("resamples", resamples, "bootstrap resamples behind the bias", AtLeast(40));
    v.Field("level", level, "of the interval that bounds the bias", Between(0.0, 0.999));
    v.Field("seed", seed, "seed of the bootstrap");
  }
};

// Its terms hold the x_j fixed; a note says how much of it the values and WDR are. Refuses what WDR
// refuses, and a single episode.
Estimate EstimateMagic(const EstimatorInputs& inputs, const Estimand& estimand,
                       const MagicOptions& options);

// Estimators of these options: dr_fqe, wdr_fqe, magic_fqe with values fqe. Both throw ConfigError
// where the estimate does.
Estimator DoublyRobust(const DoublyRobustOptions& options);
Estimator Magic(const MagicOptions& options);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ESTIMATORS_DOUBLY_ROBUST_H_
