#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_

#include "core/layers.h"
#include "experiments/image_gof/toy_gaussian_config.h"
#include "experiments/presentation/experiment.h"

namespace lfiw::experiments {

// The paper's figure 1: class probabilities with bootstrap intervals for every size, one stage
// each. Writes results.csv (a line per size), curves.csv, plots and report.html into the run
// directory. Returns the program's exit status, 0.
int RunToyGaussian(const ToyGaussianConfig& config, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_
