#ifndef LFIW_EXPERIMENTS_VERDICT_CALIBRATION_H_
#define LFIW_EXPERIMENTS_VERDICT_CALIBRATION_H_

#include "experiments/experiment.h"
#include "experiments/verdict_calibration_config.h"

namespace lfiw {

// Evaluates random linear-Gaussian systems by the pipeline of `lfiw evaluate`, half of them with a
// planted failure, and counts what the verdict says of them. Each case is one parallel task and one
// stage. Writes results.csv (a row per case), summary.csv, plots and report.html into the run
// directory. Returns the program's exit status, 0.
int RunVerdictCalibration(const VerdictCalibrationConfig& config, const ExperimentRun& run);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_VERDICT_CALIBRATION_H_
