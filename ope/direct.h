#ifndef LFIW_OPE_DIRECT_H_
#define LFIW_OPE_DIRECT_H_

#include <string>

#include "ope/estimator.h"

namespace lfiw {

// The direct method: the mean over logged first states of the fitted value V_0(s_0) of
// EstimatorInputs::values named `values`. No weights; as good as the fit.
Estimate EstimateDirect(const EstimatorInputs& inputs, const Estimand& estimand,
                        const std::string& values);

// The same as an estimator; `source` says how the values are fitted.
Estimator DirectMethod(std::string name, std::string values, std::string source);

}  // namespace lfiw

#endif  // LFIW_OPE_DIRECT_H_
