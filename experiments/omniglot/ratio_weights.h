#ifndef LFIW_EXPERIMENTS_OMNIGLOT_RATIO_WEIGHTS_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_RATIO_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "experiments/image_gof/cross_fit.h"
#include "experiments/omniglot/omniglot_config.h"
#include "models/fit.h"
#include "models/image/training.h"

namespace lfiw::experiments {

// Log-weights of all images, each by a classifier that was trained without it.
struct RatioFit {
  CrossFit weights;                        // [n] and [m]; its `fits` are empty
  std::vector<TrainingHistory> histories;  // [folds]
};

// Gradient steps of all folds together, for a progress bar. Throws DataError as FitRatios.
std::int64_t RatioSteps(std::int64_t n, std::int64_t m, const DrawingRatioOptions& options);

// Deals both sets to the folds at random and trains one classifier for each fold on the images of
// the others, as parallel tasks. A minibatch holds as many real images as generated ones, however
// many there are of each, so the logit is the logarithm of the density ratio. Labels of classes
// play no part; where options.sees pairs, the images given are pairs. Checkpoints go to run.folder.
// Throws DataError when a set has less than two images for each fold, and as TrainConvClassifier.
RatioFit FitRatios(const ImageBatch& real, const ImageBatch& generated,
                   const DrawingRatioOptions& options, std::uint64_t seed, const FitRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_RATIO_WEIGHTS_H_
