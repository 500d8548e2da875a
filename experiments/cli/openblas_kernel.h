#ifndef LFIW_EXPERIMENTS_CLI_OPENBLAS_KERNEL_H_
#define LFIW_EXPERIMENTS_CLI_OPENBLAS_KERNEL_H_

#include <string>
#include <string_view>

#include "core/layers.h"

namespace lfiw::experiments {

// The kernel of OpenBLAS that fits the CPU's vector extensions, where `chosen`, the one that
// OpenBLAS took, was made for older CPUs than that: empty where it may stay. OpenBLAS chooses by
// the model number of the CPU and takes kernels of 2004 for a model that it does not know.
std::string FittingOpenBlasKernel(std::string_view chosen, bool has_avx2, bool has_avx512);

// Starts the program anew with OPENBLAS_CORETYPE set where FittingOpenBlasKernel names a kernel:
// the library reads the variable only when it is loaded. Does nothing if the user has set the
// variable. Returns if nothing is to be done or the program cannot be started again.
void RestartWithFittingOpenBlasKernel(char** argv);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_OPENBLAS_KERNEL_H_
