#ifndef LFIW_EXPERIMENTS_EVALUATION_RUN_EVALUATION_H_
#define LFIW_EXPERIMENTS_EVALUATION_RUN_EVALUATION_H_

#include <optional>

#include "core/layers.h"
#include "experiments/evaluation/evaluation_config.h"
#include "experiments/evaluation/run_context.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// Runs model-based off-policy evaluation end to end and writes results.csv, results.json,
// report.json, report.html and plots into the run directory. The outcome's object
// holds `stated`, a row per policy, best first, and `results`, all rows; its status is 0 when any
// row of any policy has a value, whatever its verdict, else 1. Throws NumericError, which
// is status 1 too, when a fit or a rollout leaves the finite numbers, so that no row can be
// computed. `given` is the log of config.log.file where the caller has read it already.
Outcome RunEvaluation(const EvaluationConfig& config, const ExperimentRun& run,
                      std::optional<LogSource> given = std::nullopt);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_RUN_EVALUATION_H_
