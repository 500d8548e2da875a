#ifndef LFIW_OPE_ESTIMATORS_DIRECT_METHOD_H_
#define LFIW_OPE_ESTIMATORS_DIRECT_METHOD_H_

#include <string>

#include "core/layers.h"
#include "ope/estimator.h"

namespace lfiw::ope {

// The direct method: the mean over logged first states of the fitted value V_0(s_0) of
// EstimatorInputs::values named `values`. No weights; as good as the fit.
Estimate EstimateDirect(const EstimatorInputs& inputs, const Estimand& estimand,
                        const std::string& values);

// The same as an estimator; `source` says how the values are fitted.
Estimator DirectMethod(std::string name, std::string values, std::string source);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ESTIMATORS_DIRECT_METHOD_H_
