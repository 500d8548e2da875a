#ifndef LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CASE_RUN_H_
#define LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CASE_RUN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/layers.h"
#include "experiments/calibration/case_outcome.h"
#include "experiments/calibration/verdict_calibration_config.h"
#include "experiments/calibration/verdict_cases.h"

namespace lfiw::experiments {

struct CaseOutcomes {
  // Of the estimate from rollouts that is stated first; for degenerate_weights that with all
  // weights.
  CaseOutcome rollouts;
  std::optional<CaseOutcome>
      doubly_robust;  // where it is enabled, and then stated before the other
};

// Runs the pipeline of `lfiw evaluate` on a case, from logged episodes to the judged estimates.
// `folder`, which exists, is for its own stages and may be dropped afterwards; what a killed run
// left there is used.
CaseOutcomes RunVerdictCase(const CaseOptions& options, const VerdictCase& c, std::uint64_t seed,
                            const std::string& folder);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CASE_RUN_H_
