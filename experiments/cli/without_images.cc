// What takes the place of images.cc in a build without images.

#include "experiments/cli/command_line.h"
#include "experiments/cli/experiment_kinds.h"

namespace lfiw::experiments {

std::vector<ExperimentRunner> ImageExperiments() { return {}; }

void AddImageVerbs(CLI::App& /*app*/, ChosenVerb& /*chosen*/) {}

}  // namespace lfiw::experiments
