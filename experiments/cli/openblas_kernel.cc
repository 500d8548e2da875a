#include "experiments/cli/openblas_kernel.h"

#include <cblas.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace lfiw::experiments {

std::string FittingOpenBlasKernel(std::string_view chosen, bool has_avx2, bool has_avx512) {
  // without AVX2: getarch names of OpenBLAS' driver/others/dynamic.c
  constexpr std::array<std::string_view, 18> kOld = {
      "Katmai",  "Coppermine",   "Northwood",  "Prescott", "Banias",      "Atom",
      "Core2",   "Penryn",       "Dunnington", "Nehalem",  "Sandybridge", "Athlon",
      "Opteron", "Opteron_SSE3", "Barcelona",  "Bobcat",   "Bulldozer",   "Nano"};
  const bool old = std::ranges::find(kOld, chosen) != kOld.end();
  if (has_avx512 && (old || chosen == "Haswell")) return "SkylakeX";
  if (has_avx2 && old) return "Haswell";
  return "";
}

void RestartWithFittingOpenBlasKernel(char** argv) {
#ifdef __x86_64__
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  const std::string kernel = FittingOpenBlasKernel(openblas_get_corename(), avx2, avx512);
  if (kernel.empty()) return;
  setenv("OPENBLAS_CORETYPE", kernel.c_str(), 1);
  // by its own name where that still leads to it, as the list of processes shows it
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv(own.c_str(), argv);
  execv("/proc/self/exe", argv);
#else
  static_cast<void>(argv);
#endif
}

}  // namespace lfiw::experiments
