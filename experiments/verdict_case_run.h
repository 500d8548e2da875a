#ifndef LFIW_EXPERIMENTS_VERDICT_CASE_RUN_H_
#define LFIW_EXPERIMENTS_VERDICT_CASE_RUN_H_

#include <cstdint>
#include <string>

#include "experiments/case_outcome.h"
#include "experiments/verdict_calibration_config.h"
#include "experiments/verdict_cases.h"

namespace lfiw {

// Runs the pipeline of `lfiw evaluate` on a case, from logged episodes to the judged estimate: the
// one stated first, or for degenerate_weights that with all weights. `folder`, which exists, is for
// its own stages and may be dropped afterwards; what a killed run left there is used.
CaseOutcome RunVerdictCase(const VerdictCalibrationConfig& config, const VerdictCase& c,
                           std::uint64_t seed, const std::string& folder);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_VERDICT_CASE_RUN_H_
