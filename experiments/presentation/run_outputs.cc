#include "experiments/presentation/run_outputs.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/presentation/versions.h"

namespace lfiw::experiments {

Manifest ManifestOf(const ExperimentRun& run, std::uint64_t seed) {
  Manifest manifest;
  manifest.command = run.command;
  manifest.libraries = LibraryVersions();
  manifest.seeds = {{"run", seed}};
  manifest.stages = run.cache.records();
  manifest.threads = Threads();
  return manifest;
}

std::string DrawPlot(const ExperimentRun& run, const std::string& name, const Plot& plot) {
  try {
    std::string svg = RenderSvg(plot);
    run.directory.Write(fmt::format("plots/{}.svg", name), svg);
    return svg;
  } catch (const Error& error) {
    fmt::print(stderr, "lfiw: the figure is left out: {}\n", error.what());
    return "";
  }
}

}  // namespace lfiw::experiments
