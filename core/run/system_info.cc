#include "core/run/system_info.h"

#include <cblas.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <tbb/info.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "core/matrix.h"
#include "core/matrix_product.h"
#include "core/run/fma_peak.h"
#include "core/run/revision.h"

namespace lfiw::core {
namespace {

constexpr double kSlowShare = 0.6;

// The value of a field of the first processor in /proc/cpuinfo; empty if there is none.
std::string CpuField(std::string_view name) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(name) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::string CpuModel() {
  const std::string model = CpuField("model name");
  return model.empty() ? "unknown" : model;
}

// Lists those vector extensions of the CPU that kernels of linear algebra choose by.
std::string CpuFeatures() {
  constexpr std::array<std::string_view, 7> kDecisive = {
      "avx", "avx2", "fma", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16"};
  std::istringstream flags(CpuField("flags"));
  std::string features;
  for (std::string flag; flags >> flag;) {
    if (std::ranges::find(kDecisive, flag) == kDecisive.end()) continue;
    features += (features.empty() ? "" : " ") + flag;
  }
  return features;
}

// The file, links resolved, that the address of a function lies in.
std::string LibraryOf(const void* function) {
  Dl_info info;
  if (function == nullptr || dladdr(function, &info) == 0) return "";
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(info.dli_fname, nullptr),
                                                             &std::free);
  return resolved ? resolved.get() : info.dli_fname;
}

bool IsFast(std::string path) {
  std::transform(path.begin(), path.end(), path.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 4> kFast = {"openblas", "mkl", "blis",
                                                     "libtorch"};  // PyPI's, which has MKL inside
  return std::any_of(kFast.begin(), kFast.end(),
                     [&](std::string_view name) { return path.find(name) != std::string::npos; });
}

}  // namespace

SystemInfo QuerySystem() {
  SystemInfo info;
  info.version = kLfiwVersion;
  info.revision = kLfiwRevision;
#if defined(__clang__)
  info.compiler = "clang " __clang_version__;
#else
  info.compiler = "g++ " __VERSION__;
#endif
  info.cpu_model = CpuModel();
  info.cpu_features = CpuFeatures();
  info.cores = tbb::info::default_concurrency();
  info.cblas_library = LibraryOf(reinterpret_cast<const void*>(&cblas_sgemm));
  info.blas_library = LibraryOf(dlsym(RTLD_DEFAULT, "sgemm_"));
  info.lapack_library = LibraryOf(dlsym(RTLD_DEFAULT, "sgesv_"));
  info.openblas_config = openblas_get_config();
  info.products = ProductLibraryText();
  return info;
}

std::int64_t PeakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::int64_t kKibibyte = 1024;
  return kKibibyte * usage.ru_maxrss;
}

ProductSpeed MeasureProductSpeed() {
  constexpr std::int64_t kRows = 128, kUnits = 500, kProducts = 4, kRounds = 4000;
  constexpr double kBudgetSeconds = 0.06;
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };

  const MatrixF a = MatrixF::Constant(kRows, kUnits, 0.5f);
  const MatrixF b = MatrixF::Constant(kUnits, kUnits, 0.25f);
  MatrixF c = MatrixF::Zero(kRows, kUnits);
  ProductSpeed speed;
  const auto multiply = [&] {
    MatrixProduct(kRows, kUnits, kUnits, {a.data(), kUnits}, {b.data(), kUnits}, c.data(), kUnits);
  };
  multiply();  // warms caches and the library
  for (const Clock::time_point begin = Clock::now(); seconds_since(begin) < kBudgetSeconds;) {
    Clock::time_point start = Clock::now();
    for (std::int64_t i = 0; i < kProducts; ++i) multiply();
    const double operations = 2.0 * kProducts * kRows * kUnits * kUnits;
    speed.product = std::max(speed.product, 1e-9 * operations / seconds_since(start));
    start = Clock::now();
    const auto fused = static_cast<double>(ComputeFusedMultiplyAdds(kRounds));
    speed.peak = std::max(speed.peak, 1e-9 * fused / seconds_since(start));
  }
  LFIW_ASSERT(c(kRows - 1, kUnits - 1) == 0.125f * kUnits);
  return speed;
}

std::vector<std::string> SpeedWarnings(const SystemInfo& info, const ProductSpeed& speed) {
  std::vector<std::string> warnings;
  const auto check = [&](std::string_view what, const std::string& library) {
    if (library.empty() || IsFast(library)) return;
    warnings.push_back(
        fmt::format("{} resolves to {}, which is not OpenBLAS, MKL or BLIS: networks of images may "
                    "train 17 to 38 times slower (install libopenblas0-pthread; "
                    "update-alternatives)",
                    what, library));
  };
  check("BLAS", info.blas_library.empty() ? info.cblas_library : info.blas_library);
  check("LAPACK", info.lapack_library);
  if (!(speed.Share() >= kSlowShare)) {
    warnings.push_back(fmt::format(
        "matrix products by {} reach {:.0f} of the {:.0f} GFLOP/s that one core can do ({:.0f} %, "
        "expected at least {:.0f} %): networks will train slowly; other work on this machine, or "
        "the environment variable LFIW_PRODUCTS, may be the cause",
        info.products, speed.product, speed.peak, 100.0 * speed.Share(), 100.0 * kSlowShare));
  }
  return warnings;
}

}  // namespace lfiw::core
