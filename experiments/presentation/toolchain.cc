#include "experiments/presentation/toolchain.h"

#include "core/run/system_info.h"
#include "experiments/presentation/versions.h"

namespace lfiw::experiments {

Toolchain CurrentToolchain() {
  Toolchain toolchain;
  toolchain.sources.assign(kSourceHashes.begin(), kSourceHashes.end());
  toolchain.computed_with = LibraryVersions();
  const SystemInfo system = QuerySystem();
  toolchain.computed_with["BLAS"] = system.openblas_config;
  toolchain.computed_with["products"] = system.products;
  toolchain.computed_with["CPU"] = system.cpu_model + " " + system.cpu_features;
  toolchain.computed_with["compiler"] = system.compiler;
  return toolchain;
}

}  // namespace lfiw::experiments
