#ifndef LFIW_CORE_RUN_SYSTEM_INFO_H_
#define LFIW_CORE_RUN_SYSTEM_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

namespace lfiw::core {

// What decides speed and exact bytes on this machine; for `lfiw doctor`, the start-up warning and
// the manifest of a run.
struct SystemInfo {
  std::string version;          // of lfiw
  std::string revision;         // of its source, from git at build time; empty if unknown
  std::string compiler;         // "g++ 12.2.0"
  std::string cpu_model;        // "unknown" if the system does not tell
  std::string cpu_features;     // the vector extensions that kernels choose by: "avx2 fma avx512f"
  int cores = 0;                // that this process may use
  std::string cblas_library;    // file that holds the program's own cblas_sgemm
  std::string blas_library;     // file that holds sgemm_, which LibTorch calls; empty if none
  std::string lapack_library;   // file that holds sgesv_; empty if none
  std::string openblas_config;  // OpenBLAS' own words: version, kernel, threads
  std::string products;         // library and kernels of the products of networks
};

SystemInfo QuerySystem();

// The most memory that this process has had in use so far (resident set), in bytes.
std::int64_t PeakMemoryBytes();

// Rates of one thread, in GFLOP/s, taken in turns within some 60 ms and each the best of its turns.
struct ProductSpeed {
  double product = 0.0;  // of MatrixProduct, [128, 500] x [500, 500], which dominates a fit step
  double peak = 0.0;     // of fused multiply-adds in registers: what the core can do at most
  double Share() const { return product / peak; }
};
ProductSpeed MeasureProductSpeed();

// A sentence for each reason why networks would train slowly here: matrix products below 60 % of
// what the core can do, or a BLAS or LAPACK, which images are computed with, that is none of
// OpenBLAS, MKL and BLIS.
std::vector<std::string> SpeedWarnings(const SystemInfo& info, const ProductSpeed& speed);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_SYSTEM_INFO_H_
