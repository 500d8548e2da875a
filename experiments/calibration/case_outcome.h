#ifndef LFIW_EXPERIMENTS_CALIBRATION_CASE_OUTCOME_H_
#define LFIW_EXPERIMENTS_CALIBRATION_CASE_OUTCOME_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/layers.h"
#include "ope/judgement/verdict.h"

namespace lfiw::experiments {

// The pipeline's answer to a case, with the truth.
struct CaseOutcome {
  std::string estimator = {};  // kModelEstimator, "lfiw_trajectory" or kDoublyRobustLfiw
  std::int64_t horizon = 0;
  std::optional<double> value = {};
  std::optional<double> standard_error = {};
  std::optional<double> ci_low = {}, ci_high = {};
  std::string interval_method = {};
  // The interval without what the back-test or the correction adds.
  std::optional<double> plain_low = {}, plain_high = {};
  double truth = 0.0;
  double spread = 0.0;  // standard deviation of a logged episode's return
  Evidence evidence = {};

  // Names each field once: v.Field(name, field).
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("estimator", estimator);
    v.Field("horizon", horizon);
    v.Field("value", value);
    v.Field("standard_error", standard_error);
    v.Field("ci_low", ci_low);
    v.Field("ci_high", ci_high);
    v.Field("interval_method", interval_method);
    v.Field("plain_low", plain_low);
    v.Field("plain_high", plain_high);
    v.Field("truth", truth);
    v.Field("spread", spread);
    v.Field("evidence", evidence);
  }
};

// Write and read an outcome; infinite numbers are kept as such.
nlohmann::json OutcomeJson(const CaseOutcome& outcome);
CaseOutcome OutcomeFromJson(const nlohmann::json& json);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_CASE_OUTCOME_H_
