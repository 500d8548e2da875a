#include "ope/rollout_estimators.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "ope/diagnostics.h"
#include "ope/plain_model.h"

namespace lfiw {
namespace {

constexpr const char* kOneRepetition = "of one repetition: its error is that of its episodes alone";

Estimate EstimateRollouts(const EstimatorInputs& inputs, const Estimand& estimand) {
  PlainModelEstimate plain = EstimatePlainModel(inputs.model_rewards, estimand);
  Estimate estimate;
  estimate.value = plain.value;
  estimate.standard_error = plain.standard_error;
  if (!plain.standard_error) {
    estimate.standard_error = plain.se_within;
    estimate.notes.push_back(kOneRepetition);
  }
  return estimate;
}

Estimate FromLfiw(const LfiwEstimate& from) {
  Estimate estimate;
  estimate.value = from.value;
  estimate.reason = from.reason;
  estimate.log10_value = from.log10_value;
  estimate.standard_error = from.standard_error;
  estimate.ess = from.ess;
  estimate.khat = from.khat;
  estimate.max_weight = from.max_weight;
  if (from.value && !from.standard_error) {
    estimate.standard_error = from.se_within;
    estimate.notes.push_back(kOneRepetition);
  }
  return estimate;
}

Estimate EstimateWeightedRollouts(const EstimatorInputs& inputs, const Estimand& estimand,
                                  LfiwOptions options, WeightedSteps steps) {
  if (inputs.model_log_weights.empty()) {
    const auto why = inputs.missing.find("classifiers");
    return Refuse(why == inputs.missing.end() ? "no classifier was fitted" : why->second);
  }
  const std::int64_t last = inputs.model_rewards.shape()[2];
  if (steps == WeightedSteps::kAll) {
    options.khat = KhatHorizons::kListed;
    options.khat_horizons = {last};
  }
  const LfiwResult result =
      EstimateLfiw(inputs.model_rewards, inputs.model_log_weights, estimand, options);
  const std::int64_t horizon = steps == WeightedSteps::kAll ? last : LargestReliableHorizon(result);
  Estimate estimate = FromLfiw(result.horizons[static_cast<std::size_t>(horizon)]);
  estimate.notes.push_back(fmt::format("weights of H = {} of {} steps act", horizon, last));
  return estimate;
}

}  // namespace

Estimator PlainRollouts() {
  return {.name = "model",
          .summary = "mean return of rollouts in the learned model",
          .horizons = HorizonSupport::kFinite,
          .needs = {"rollouts"},
          .estimate = EstimateRollouts};
}

Estimator Lfiw(const LfiwOptions& options, WeightedSteps steps) {
  const bool all = steps == WeightedSteps::kAll;
  return {.name = fmt::format("lfiw_{}{}", EnumName(options.variant), all ? "" : "_reliable"),
          .summary = fmt::format("rollouts weighted by classifiers (Grover et al. 2019), {}",
                                 all ? "all steps" : "as many steps as k-hat allows"),
          .horizons = HorizonSupport::kFinite,
          .needs = {"rollouts"},
          .estimate = [options, steps](const EstimatorInputs& inputs, const Estimand& estimand) {
            return EstimateWeightedRollouts(inputs, estimand, options, steps);
          }};
}

}  // namespace lfiw
