#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_H_

#include "core/layers.h"
#include "experiments/image_gof/gof_table_config.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// The paper's table 1 (reference, and every generator without and with self-normalized weights,
// with standard errors over runs); where sizes are given, the tables of its appendix B; densities
// under generators that have one (equation 11); checks of the classifiers. Generators without files
// of samples are trained first. Writes results.csv, bias_variance.csv, density.csv,
// classifiers.csv, metrics.jsonl, plots and report.html into the run directory. The outcome's
// object holds `results`. Throws ConfigError before anything is trained.
Outcome RunGofTable(const GofTableConfig& config, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_H_
