#ifndef LFIW_OPE_FITS_FITTED_ARRAYS_FILE_H_
#define LFIW_OPE_FITS_FITTED_ARRAYS_FILE_H_

#include <string>

#include "core/layers.h"
#include "ope/estimator.h"

namespace lfiw::ope {

// Writes what a fit has made as an .npz file with arrays "values.NAME.q", "log_ratios.NAME", ...
void SaveFittedArrays(const FittedArrays& arrays, const std::string& path);

// Reads such a file back. Throws DataError for what is not one.
FittedArrays LoadFittedArrays(const std::string& path);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_FITTED_ARRAYS_FILE_H_
