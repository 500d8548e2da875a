#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_H_

#include "core/layers.h"
#include "experiments/image_gof/gof_config.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// Measures how well generated images fit real ones, with and without importance weights: features,
// classifiers by cross-fitting, metrics, checks of the weights, verdict. Writes results.csv,
// results.json, weights.csv, metrics.jsonl, plots and report.html into the run directory. The
// outcome's object is results.json.
Outcome RunGof(const GofConfig& config, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_H_
