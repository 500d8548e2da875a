#ifndef LFIW_EXPERIMENTS_CLI_INSPECT_REPORT_H_
#define LFIW_EXPERIMENTS_CLI_INSPECT_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/layers.h"
#include "core/logs/log_audit.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// An audit as text of one screen. `path` names the log.
std::string AuditText(const AuditReport& report, const std::string& path);

// For programs; members are only ever added:
//   schema 1, path, format, environment, obs_dim, action_dim, discrete_actions, episodes, steps,
//   file_steps, unrecorded_cuts, discarded_episodes, terminated,
//   length, return   {mean, sd, min, q25, median, q75, max}
//   observations, actions [{min, max, mean, sd, not_finite}], reward, behavior_log_density the same
//              (behavior_log_density is null when the log has none)
//   constant_dims [index], duplicate_dims [[index, index]],
//   findings   [{severity: "error" | "warning" | "note", code, text, cure}]
// What is not finite is null.
nlohmann::json AuditJson(const AuditReport& report, const std::string& path);

// A self-contained page with plots; without gnuplot it has none and says why.
std::string AuditPage(const AuditReport& report, const std::string& path,
                      const PlotOptions& options = {});

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_INSPECT_REPORT_H_
