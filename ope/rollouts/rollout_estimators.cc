#include "ope/rollouts/rollout_estimators.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "ope/judgement/diagnostics.h"
#include "ope/rollouts/plain_model.h"
#include "ope/rollouts/rollout_spread.h"

namespace lfiw::ope {
namespace {

constexpr const char* kOneRepetition = "of one repetition: its error is that of its episodes alone";

// The spread over repetitions and classifiers; without one, that of the episodes.
void SetSpread(const std::optional<RolloutSpread>& spread, std::optional<double> within,
               const EstimatorInputs& inputs, Estimate& estimate) {
  if (spread) {
    estimate.standard_error = spread->standard_error;
    estimate.degrees = spread->degrees;
    estimate.covers = spread->covers;
    return;
  }
  estimate.standard_error = within;
  estimate.degrees = static_cast<double>(inputs.model_rewards.shape()[1] - 1);
  estimate.covers = "episodes of the rollouts, given the fitted model";
  estimate.notes.emplace_back(kOneRepetition);
}

Estimate EstimateRollouts(const EstimatorInputs& inputs, const Estimand& estimand) {
  PlainModelEstimate plain = EstimatePlainModel(inputs.model_rewards, estimand);
  Estimate estimate;
  estimate.value = plain.value;
  Array<double, 2> repetitions({std::ssize(plain.repetitions), 1});
  std::ranges::copy(plain.repetitions, repetitions.flat().begin());
  SetSpread(SpreadOf(repetitions), plain.se_within, inputs, estimate);
  return estimate;
}

Estimate FromLfiw(const LfiwEstimate& from, const EstimatorInputs& inputs) {
  Estimate estimate;
  estimate.value = from.value;
  estimate.reason = from.reason;
  estimate.log10_value = from.log10_value;
  estimate.ess = from.ess;
  estimate.khat = from.khat;
  estimate.max_weight = from.max_weight;
  if (from.value) SetSpread(SpreadOf(from.estimates), from.se_within, inputs, estimate);
  return estimate;
}

// Refuses a choice of horizons for k-hat that would change nothing.
void CheckKhat(const LfiwOptions& options, WeightedSteps steps) {
  const bool listed = options.khat == KhatHorizons::kListed;
  if (steps == WeightedSteps::kAll && (listed || !options.khat_horizons.empty())) {
    const std::string_view name = EnumName(options.variant);
    Throw<ConfigError>(
        "{}: lfiw_{} weighs by all steps and fits k-hat there alone, expected none; "
        "lfiw_{}_reliable chooses its steps by k-hat",
        listed ? "khat: listed" : "khat_horizons", name, name);
  }
  if (!listed && !options.khat_horizons.empty()) {
    Throw<ConfigError>("khat_horizons: has no effect where khat is all, expected khat: listed");
  }
}

Estimate EstimateWeightedRollouts(const EstimatorInputs& inputs, const Estimand& estimand,
                                  LfiwOptions options, WeightedSteps steps) {
  const std::int64_t last = inputs.model_rewards.shape()[2];
  if (steps == WeightedSteps::kAll) {
    options.khat = KhatHorizons::kListed;
    options.khat_horizons = {last};
  }
  const LfiwResult result =
      EstimateLfiw(inputs.model_rewards, inputs.model_log_weights, estimand, options);
  const std::int64_t horizon = steps == WeightedSteps::kAll ? last : LargestReliableHorizon(result);
  Estimate estimate = FromLfiw(result.horizons[static_cast<std::size_t>(horizon)], inputs);
  estimate.notes.push_back(fmt::format("weights of H = {} of {} steps act", horizon, last));
  return estimate;
}

}  // namespace

Estimator PlainRollouts() {
  return {.name = kModelEstimator,
          .summary = "mean return of rollouts in the learned model",
          .horizons = HorizonSupport::kFinite,
          .needs = {"rollouts"},
          .estimate = EstimateRollouts};
}

Estimator Lfiw(const LfiwOptions& options, WeightedSteps steps) {
  CheckKhat(options, steps);
  const bool all = steps == WeightedSteps::kAll;
  return {.name = fmt::format("lfiw_{}{}", EnumName(options.variant), all ? "" : "_reliable"),
          .summary = fmt::format("rollouts weighted by classifiers (Grover et al. 2019), {}",
                                 all ? "all steps" : "as many steps as k-hat allows"),
          .horizons = HorizonSupport::kFinite,
          .needs = {"rollouts", "classifiers"},
          .estimate = [options, steps](const EstimatorInputs& inputs, const Estimand& estimand) {
            return EstimateWeightedRollouts(inputs, estimand, options, steps);
          }};
}

}  // namespace lfiw::ope
