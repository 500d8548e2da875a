#ifndef LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_H_

#include "core/layers.h"
#include "experiments/omniglot/omniglot_config.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// The paper's table 2: accuracy of a classifier of Omniglot's characters trained on real drawings,
// on those of a DAGAN, and on both, with and without importance weights on the generated ones.
// Writes results.csv, table.csv, metrics.jsonl, figures and report.html into the run directory.
// The outcome's object holds `results`, the table, and `runs`.
Outcome RunOmniglot(const OmniglotConfig& config, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_H_
