#ifndef LFIW_EXPERIMENTS_OMNIGLOT_DRAWING_WEIGHTS_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_DRAWING_WEIGHTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/layers.h"
#include "experiments/omniglot/omniglot_config.h"

namespace lfiw::experiments {

// How the ratios of generated drawings become their weights.
struct WeightOptions {
  double tempered = 0.2;
  double alpha = 1.0;
  WeightBalance balance = WeightBalance::kClasses;
};

// The weights that generated drawings have in the training of a classifier.
struct DrawingWeights {
  std::vector<double> log_weights;  // [m]; with balance, each class's weights have the mean 1
  double alpha = 1.0;               // the exponent of the ratios
  double ess = 0.0;                 // Kish's effective sample size, in [1, m]
  double max_weight = 0.0;          // the largest share of one drawing
};

// Flattens log-ratios [m] and, with balance, divides the weights of each class by their mean: every
// class is as frequent among generated drawings as among real ones, so the ratios within a class
// have the mean 1. labels [m] are the drawings' classes. A class whose ratios are all 0 keeps
// weights of 0.
DrawingWeights WeighDrawings(std::span<const double> log_ratios,
                             std::span<const std::int64_t> labels, const WeightOptions& options);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_DRAWING_WEIGHTS_H_
