#ifndef LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_H_
#define LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_H_

#include "core/layers.h"
#include "experiments/calibration/verdict_calibration_config.h"
#include "experiments/presentation/experiment.h"

namespace lfiw::experiments {

// Evaluates random linear-Gaussian systems by the pipeline of `lfiw evaluate`, half of them with a
// planted failure, and counts what the verdict says of them. Each case is one parallel task and one
// stage. Writes results.csv (a row per case and estimate), summary.csv (counts and shares), plots
// and report.html into the run directory. Returns the program's exit status, 0.
int RunVerdictCalibration(const VerdictCalibrationConfig& config, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_H_
