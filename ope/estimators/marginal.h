#ifndef LFIW_OPE_ESTIMATORS_MARGINAL_H_
#define LFIW_OPE_ESTIMATORS_MARGINAL_H_

#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/estimator.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {

// Marginalized importance sampling: rewards weighted by w_t, the ratio of the evaluation policy's
// to the logged distribution of (s, a) at t (Xie, Ma and Wang 2019), or over an infinite horizon of
// the discounted visitation to all logged steps (Liu, Li, Tang and Zhou 2018),
//
//   v = sum_t g^t sum_i w_it r_it / sum_i w_it,    v = 1 / (1 - g) sum_it w_it r_it / sum_it w_it.
//
// Nothing is cumulated, so weights do not degenerate with the horizon. The exact ones have mean 1,
// which is what kSelf divides by; kNone divides by the number of episodes, or of logged steps. In
// the sums of weights, what terminated keeps its last weight for all that follows, because the
// evaluation policy ends there as well: w are ratios to the distribution of episodes still running.
struct MarginalOptions {
  std::string weights = "mwl";  // of EstimatorInputs::weights, or else ::log_ratios
  WeightNormalization normalization = WeightNormalization::kSelf;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("weights", weights, "fitted marginal weights");
    v.Field("normalization", normalization, "divide by the sum of the weights, or by their number");
  }
};

// The estimate with its terms (a column for each step, or one). ESS is the mean over steps, k-hat
// and max_weight the largest; over an infinite horizon they are of the sums of weights of the
// episodes. Notes report the mean weight and the share of negative ones. Refuses where a time limit
// cut all episodes that go on before the end of a finite horizon. Arrays are checked by
// RunEstimator.
Estimate EstimateMarginal(const EstimatorInputs& inputs, const Estimand& estimand,
                          const MarginalOptions& options);

// Rows "mwl", "dual_dice" and "gen_dice", each from what is fitted under its name.
std::vector<Estimator> MarginalEstimators();

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ESTIMATORS_MARGINAL_H_
