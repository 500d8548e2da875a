#ifndef LFIW_EXPERIMENTS_CLI_CHECK_POLICY_H_
#define LFIW_EXPERIMENTS_CLI_CHECK_POLICY_H_

#include <nlohmann/json.hpp>
#include <string>

#include "core/layers.h"
#include "policies/policy.h"
#include "policies/policy_check.h"

namespace lfiw::experiments {

// What `check-policy` says, as text for people or as one JSON object: the policy's contract, how
// its actions compare with the log's, its log-density of the logged actions and its speed.
struct PolicyReport {
  const Policy& policy;
  std::string policy_path, data_path;
  ActionBounds bounds;
  std::string bounds_from;  // "HalfCheetah" or "the log"
  PolicyCheck check;
  double actions_per_second = 0.0;
};

std::string PolicyReportText(const PolicyReport& report);
nlohmann::json PolicyReportJson(const PolicyReport& report);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_CHECK_POLICY_H_
