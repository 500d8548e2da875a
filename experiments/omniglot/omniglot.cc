#include "experiments/omniglot/omniglot.h"

#include <vector>

#include "experiments/omniglot/generated_drawings.h"

namespace lfiw {

int RunOmniglot(const OmniglotConfig& config, const ExperimentRun& run) {
  const SplitDrawings drawings = Split(ReadDrawings(config.data), config.split, config.seed);
  std::vector<GeneratedDrawings> generated;
  for (std::int64_t g = 0; g < config.generators; ++g) {
    generated.push_back(DrawWithGenerator(config, drawings, g, run));
  }
  return 0;
}

}  // namespace lfiw
