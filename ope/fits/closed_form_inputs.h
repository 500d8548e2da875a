#ifndef LFIW_OPE_FITS_CLOSED_FORM_INPUTS_H_
#define LFIW_OPE_FITS_CLOSED_FORM_INPUTS_H_

#include <cstdint>
#include <set>
#include <string>

#include "core/layers.h"
#include "ope/fit.h"
#include "ope/fits/linear_gaussian_fits.h"
#include "ope/fits/tabular_fits.h"

namespace lfiw::ope {

// What estimators read of the logs of closed-form systems: rewards and, of the fits that have a
// function for such systems or for arrays, those that serve `needs`.
FittedInputs MakeInputs(const TabularSource& source, const FitRegistry& fits,
                        const std::set<std::string>& needs);
FittedInputs MakeInputs(const LinearGaussianSource& source, const FitRegistry& fits,
                        const std::set<std::string>& needs);

// The arrays of all standard fits, for logs from `system` under `behavior`.
EstimatorInputs MakeTabularInputs(const TabularSystem& system, const TabularPolicy& behavior,
                                  const TabularPolicy& evaluation, const TabularLog& log,
                                  const Estimand& estimand, const ModelRolloutCounts& counts,
                                  std::uint64_t seed);
EstimatorInputs MakeLinearGaussianInputs(const LinearGaussianSystem& system,
                                         const LinearGaussianPolicy& behavior,
                                         const LinearGaussianPolicy& evaluation,
                                         const LinearGaussianLog& log, const Estimand& estimand,
                                         const ModelRolloutCounts& counts, std::uint64_t seed);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_CLOSED_FORM_INPUTS_H_
