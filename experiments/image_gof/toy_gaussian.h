#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_

#include "experiments/experiment.h"
#include "experiments/image_gof/toy_gaussian_config.h"

namespace lfiw {

// The paper's figure 1: class probabilities with bootstrap intervals for every size, one stage
// each. Writes results.csv (a line per size), curves.csv, plots and report.html into the run
// directory. Returns the program's exit status, 0.
int RunToyGaussian(const ToyGaussianConfig& config, const ExperimentRun& run);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_
