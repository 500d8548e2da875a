#ifndef LFIW_EXPERIMENTS_CALIBRATION_CASE_OUTCOME_H_
#define LFIW_EXPERIMENTS_CALIBRATION_CASE_OUTCOME_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/layers.h"
#include "ope/judgement/verdict.h"

namespace lfiw::experiments {

// What the pipeline says of a case, with what is true.
struct CaseOutcome {
  std::string estimator = {};  // "model", "lfiw_trajectory" or "dr_lfiw"
  std::int64_t horizon = 0;
  std::optional<double> value = {};
  std::optional<double> standard_error = {};
  std::optional<double> ci_low = {}, ci_high = {};
  std::string interval_method = {};
  // Without what the back-test or the correction adds.
  std::optional<double> plain_low = {}, plain_high = {};
  double truth = 0.0;
  double spread = 0.0;  // standard deviation of a logged episode's return
  Evidence evidence = {};
};

// Numbers that are infinite are kept as such.
nlohmann::json OutcomeJson(const CaseOutcome& outcome);
CaseOutcome OutcomeFromJson(const nlohmann::json& json);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_CASE_OUTCOME_H_
