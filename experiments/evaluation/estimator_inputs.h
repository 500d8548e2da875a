#ifndef LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_INPUTS_H_
#define LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_INPUTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/log_split.h"
#include "experiments/evaluation/run_context.h"
#include "ope/estimator.h"
#include "ope/fit.h"

namespace lfiw::experiments {

// The arrays that off-policy estimators are functions of, for what a set of estimators needs.

// What the arrays are made from. All references outlive the call.
struct EstimatorSources {
  const StageContext& context;
  const FitRegistry& fits;
  const LogSource& log;
  const LogSplit& split;
  const FittedModels* models;                   // null: nothing that reads a model can be made
  const PolicySource& policy;                   // evaluated
  const std::optional<PolicySource>& behavior;  // its densities count where the log has none
};

// Returns the episodes that estimates with a model may correct themselves on: those that its
// members have not been trained on, or can be evaluated without the members that were.
std::vector<std::int64_t> CorrectionEpisodes(const EstimatorSources& sources);

// Returns whether a fit that serves `needs` reads a fitted dynamics model.
bool NeedDynamics(const FitRegistry& fits, const std::set<std::string>& needs);

// Returns the inputs for all of `needs` (names as in Estimator::needs), on the listed episodes with
// at least one step, and the time of each fit: that of the try that made its arrays, now or in an
// earlier run. What cannot be made is named in EstimatorInputs::missing with its reason.
FittedInputs MakeEstimatorInputs(const EstimatorSources& sources,
                                 const std::vector<std::int64_t>& episodes,
                                 const std::set<std::string>& needs);

// Makes the fits that MakeEstimatorInputs will read from the cache, each as an item of a loop that
// other processes share.
void PrepareFits(const EstimatorSources& sources, const std::vector<std::int64_t>& episodes,
                 const std::set<std::string>& needs);

// Returns the sum of the times of the cache's records from number `first` on; none where one of
// them is not known.
std::optional<double> ComputedSeconds(const StageCache& cache, std::size_t first);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_ESTIMATOR_INPUTS_H_
