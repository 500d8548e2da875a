#include "experiments/image_gof/resampling_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

std::string Line(const ImprovementCheck& check, const char* condition) {
  if (!check.reason.empty()) return fmt::format("{}: not known, {}", condition, check.reason);
  return fmt::format("{}: {}, margin {} nats", condition, check.holds ? "holds" : "fails",
                     EstimateText(check.margin, check.standard_error));
}

json CheckJson(const ImprovementCheck& check) {
  if (!check.reason.empty()) return {{"margin", nullptr}, {"reason", check.reason}};
  return {{"holds", check.holds},
          {"margin", check.margin},
          {"stderr", check.standard_error ? json(*check.standard_error) : json()}};
}

}  // namespace

std::vector<std::string> ConditionLines(const ResamplingConditions& conditions,
                                        const LogPartition& partition) {
  return {Line(conditions.divergence,
               "resampling by the weights moves the model closer to the data, E_data[log w] >= log "
               "E_model[w]"),
          Line(conditions.mean_weight, "necessary for it, E_data[w] >= E_model[w]"),
          Line(conditions.mean_log_weight, "necessary for it, E_data[log w] >= E_model[log w]"),
          fmt::format("log Z of the resampled model: {} nats (0 for exact weights)",
                      EstimateText(partition.value, partition.standard_error))};
}

json ConditionsJson(const ResamplingConditions& conditions, const LogPartition& partition) {
  return {{"divergence", CheckJson(conditions.divergence)},
          {"mean_weight", CheckJson(conditions.mean_weight)},
          {"mean_log_weight", CheckJson(conditions.mean_log_weight)},
          {"log_partition", partition.value},
          {"log_partition_stderr",
           partition.standard_error ? json(*partition.standard_error) : json()}};
}

}  // namespace lfiw::experiments
