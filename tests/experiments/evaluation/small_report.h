#ifndef LFIW_TESTS_EXPERIMENTS_EVALUATION_SMALL_REPORT_H_
#define LFIW_TESTS_EXPERIMENTS_EVALUATION_SMALL_REPORT_H_

#include <nlohmann/json.hpp>

#include "core/layers.h"

namespace lfiw::experiments {

// A report.json with a truth and four rows of estimates.
inline nlohmann::json SmallRun() {
  return nlohmann::json::parse(R"({
    "estimand": {"horizon": 100, "discount": 1, "scale": "sum"}, "confidence": 0.95,
    "truth": {"value": 241.7, "stderr": 3.6, "episodes": 20},
    "behavior_value": {"value": 220.0, "stderr": 1.0},
    "rows": [
      {"estimator": "is", "value": null, "reason": "no support"},
      {"estimator": "lfiw", "horizon": 100, "value": 217.8, "stderr": 4.0, "ci_low": 210.0,
       "ci_high": 225.6, "interval_method": "monte_carlo", "ess": 37.2, "khat": 0.4, "error": -23.9},
      {"estimator": "lfiw", "horizon": 80, "value": 219.1, "stderr": 1.6},
      {"estimator": "model", "value": 204.0, "stderr": 0.8}]})");
}

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_EVALUATION_SMALL_REPORT_H_
