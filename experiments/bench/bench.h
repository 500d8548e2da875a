#ifndef LFIW_EXPERIMENTS_BENCH_BENCH_H_
#define LFIW_EXPERIMENTS_BENCH_BENCH_H_

#include "core/layers.h"
#include "experiments/bench/bench_config.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"
#include "ope/estimator.h"

namespace lfiw::experiments {

// Runs estimators on logs of systems whose values are known. Writes results.csv (a row per
// estimate), scores.csv, plots and report.html into the run directory. The outcome's
// object holds `scores`, `ranking` and `results`; its status is 1 when every estimate was refused.
Outcome RunBench(const BenchConfig& config, const ExperimentRun& run);
// The same with a family of estimators of one's own.
Outcome RunBench(const BenchConfig& config, const EstimatorRegistry& registry,
                 const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_BENCH_BENCH_H_
