#include "experiments/cli/check_policy.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/run/text_table.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

std::string KindText(const Policy& policy) {
  const std::string noise = policy.noise_dim() > 0 ? "stochastic" : "deterministic";
  if (policy.discrete_actions() == 0) return noise + ", continuous actions";
  return fmt::format("{}, {} discrete actions", noise, policy.discrete_actions());
}

std::string Percent(double share) { return FormatRounded(100.0 * share, 3) + " %"; }

std::string Range(double low, double high) {
  return fmt::format("[{}, {}]", FormatRounded(low), FormatRounded(high));
}

std::string ActionTable(const PolicyReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t j = 0; j < report.check.dimensions.size(); ++j) {
    const ActionDimensionCheck& d = report.check.dimensions[j];
    const auto dim = static_cast<Eigen::Index>(j);
    rows.push_back({std::to_string(j), Range(report.bounds.low[dim], report.bounds.high[dim]),
                    Range(d.log_low, d.log_high), Range(d.policy_low, d.policy_high),
                    FormatRounded(d.mean_difference), Percent(d.log_share_at_bounds),
                    Percent(d.policy_share_at_bounds)});
  }
  return FormatTextTable(
      {"action", "bounds", "logged", "policy", "mean |diff|", "logged at bound", "policy at bound"},
      rows);
}

std::string DensityText(const PolicyReport& report) {
  if (!report.check.density) return "none: " + report.policy.DensityRefusal();
  const DensityCheck& density = *report.check.density;
  if (density.share_not_finite == 1.0) return "the policy cannot take any of the logged actions";
  return fmt::format("mean {}, lowest {}, not finite at {} of the steps",
                     FormatRounded(density.mean, 6), FormatRounded(density.lowest, 6),
                     Percent(density.share_not_finite));
}

std::string StoredText(const PolicyReport& report) {
  if (!report.check.density) return "not compared";
  if (!report.check.stored || report.check.stored->steps == 0) {
    return "none in the log to compare with";
  }
  const StoredDensityCheck& stored = *report.check.stored;
  return fmt::format("|computed - stored| mean {}, max {} over {} steps",
                     FormatRounded(stored.mean_error, 3), FormatRounded(stored.max_error, 3),
                     CountText(static_cast<double>(stored.steps)));
}

// Numbers that JSON cannot hold become null.
json Finite(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json DimensionJson(const PolicyReport& report, std::size_t index) {
  const ActionDimensionCheck& d = report.check.dimensions[index];
  const auto dim = static_cast<Eigen::Index>(index);
  return {{"bounds", {Finite(report.bounds.low[dim]), Finite(report.bounds.high[dim])}},
          {"logged_range", {d.log_low, d.log_high}},
          {"policy_range", {d.policy_low, d.policy_high}},
          {"mean_absolute_difference", d.mean_difference},
          {"logged_share_at_bounds", d.log_share_at_bounds},
          {"policy_share_at_bounds", d.policy_share_at_bounds}};
}

}  // namespace

std::string PolicyReportText(const PolicyReport& report) {
  const Policy& policy = report.policy;
  std::string text = fmt::format("policy     {}\n", report.policy_path);
  text += fmt::format("           {}\n", policy.Description());
  text += fmt::format("contract   {} observations -> {} actions, {}, {}\n", policy.obs_dim(),
                      policy.action_dim(), KindText(policy),
                      policy.has_density() ? "with a density" : "without a density");
  text += fmt::format("log        {}, {} steps; bounds from {}\n", report.data_path,
                      CountText(static_cast<double>(report.check.steps)), report.bounds_from);
  text += "\nThe policy's actions without noise, clipped to the bounds, against the logged ones:\n";
  text += ActionTable(report);
  text += fmt::format("\nlog-density of the logged actions: {}\n", DensityText(report));
  text += fmt::format("stored behavior_log_density:       {}\n", StoredText(report));
  text += fmt::format("speed: {} actions/s (one thread, batches of 64)\n",
                      CountText(std::round(report.actions_per_second)));
  return text;
}

json PolicyReportJson(const PolicyReport& report) {
  const Policy& policy = report.policy;
  json root = {{"policy", report.policy_path},
               {"description", policy.Description()},
               {"obs_dim", policy.obs_dim()},
               {"action_dim", policy.action_dim()},
               {"stochastic", policy.noise_dim() > 0},
               {"discrete_actions", policy.discrete_actions()},
               {"has_density", policy.has_density()},
               {"data", report.data_path},
               {"steps", report.check.steps},
               {"bounds_from", report.bounds_from},
               {"actions", json::array()},
               {"actions_per_second", report.actions_per_second}};
  if (!policy.has_density()) root["no_density_because"] = policy.DensityRefusal();
  for (std::size_t j = 0; j < report.check.dimensions.size(); ++j) {
    root["actions"].push_back(DimensionJson(report, j));
  }
  if (const auto& density = report.check.density) {
    root["log_density"] = {{"mean", Finite(density->mean)},
                           {"lowest", Finite(density->lowest)},
                           {"share_not_finite", density->share_not_finite}};
  }
  if (const auto& stored = report.check.stored; stored && stored->steps > 0) {
    root["stored_log_density"] = {{"steps", stored->steps},
                                  {"mean_absolute_error", stored->mean_error},
                                  {"max_absolute_error", stored->max_error}};
  }
  return root;
}

}  // namespace lfiw::experiments
