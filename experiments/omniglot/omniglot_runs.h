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

// What one run makes of one kind of training data.
struct ColumnFits {
  // Columns with weights have one for each share of AugmentedOptions::tempered, the others one.
  std::vector<AugmentedFit> tried;
  std::size_t chosen = 0;

  const AugmentedFit& fit() const { return tried[chosen]; }
};

// One repetition with a seed of its own for both classifiers.
struct OmniglotRun {
  std::int64_t generator = 0;  // the one whose drawings it has
  std::uint64_t seed = 0;
  RatioFit ratios;
  std::array<ColumnFits, kAllTrainingData.size()> columns;  // in order of TrainingData

  const ColumnFits& Column(TrainingData data) const {
    return columns[static_cast<std::size_t>(data)];
  }
};

// Returns the place among a column's fits of the one with the best mean validation accuracy over
// the runs with this generator, the first one of equals. All runs have tried equally many.
std::size_t BestOnValidation(const std::vector<OmniglotRun>& runs, TrainingData data,
                             std::int64_t generator);

// Measures all runs, as stages "omniglot_ratios" and "omniglot_classifier", and chooses the share
// that weights are worth. A change of the shares or of alpha trains only columns with weights
// again; a share of 1 is the column without weights. Throws as FitRatios and TrainAugmented.
std::vector<OmniglotRun> MeasureRuns(const OmniglotConfig& config, const SplitDrawings& drawings,
                                     const std::vector<GeneratedDrawings>& generated,
                                     const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_RUNS_H_
