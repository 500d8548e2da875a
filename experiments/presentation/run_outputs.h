#ifndef LFIW_EXPERIMENTS_PRESENTATION_RUN_OUTPUTS_H_
#define LFIW_EXPERIMENTS_PRESENTATION_RUN_OUTPUTS_H_

#include <cstdint>
#include <string>

#include "core/layers.h"
#include "core/run/run_directory.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// What every experiment leaves in its run directory.

// manifest.json of a finished run: its command, stages, libraries and threads, and `seed` as "run".
// Inputs and further seeds are the caller's to add.
Manifest ManifestOf(const ExperimentRun& run, std::uint64_t seed);

// Draws a plot as plots/NAME.svg and returns it; an empty text, after a word on stderr, when it
// cannot be drawn.
std::string DrawPlot(const ExperimentRun& run, const std::string& name, const Plot& plot);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_RUN_OUTPUTS_H_
