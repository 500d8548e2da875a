#ifndef LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_RUNS_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_RUNS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/layers.h"
#include "experiments/omniglot/augmented_training.h"
#include "experiments/omniglot/drawing_split.h"
#include "experiments/omniglot/generated_drawings.h"
#include "experiments/omniglot/omniglot_config.h"
#include "experiments/omniglot/ratio_weights.h"
#include "experiments/presentation/experiment.h"

namespace lfiw::experiments {

// One repetition with a seed of its own for both classifiers.
struct OmniglotRun {
  std::int64_t generator = 0;  // the one whose drawings it has
  std::uint64_t seed = 0;
  RatioFit ratios;
  std::array<AugmentedFit, kAllTrainingData.size()> columns;  // in order of TrainingData
};

// All runs, as stages "omniglot_ratios" and "omniglot_classifier". A change of alpha trains only
// the columns with weights again. Throws as FitRatios and TrainAugmented.
std::vector<OmniglotRun> MeasureRuns(const OmniglotConfig& config, const SplitDrawings& drawings,
                                     const std::vector<GeneratedDrawings>& generated,
                                     const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_RUNS_H_
