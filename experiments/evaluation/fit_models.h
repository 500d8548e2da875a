#ifndef LFIW_EXPERIMENTS_EVALUATION_FIT_MODELS_H_
#define LFIW_EXPERIMENTS_EVALUATION_FIT_MODELS_H_

#include <cstdint>
#include <optional>

#include "core/layers.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/log_split.h"
#include "experiments/evaluation/run_context.h"

namespace lfiw::experiments {

// Fits dynamics, `classifiers` classifiers, and reward and termination where they are learned. Each
// is a stage of its own, kept by the cache. `behavior`, the policy that wrote the log or an
// imitation of it, says how much noise a model of DynamicsChoice::kAuto has, where it is given.
FittedModels FitModels(const StageContext& context, const LogSource& log,
                       const std::optional<PolicySource>& behavior, const LogSplit& split,
                       std::int64_t classifiers);

// Fits the same with the dynamics fitted to the same episodes of another log of as many.
FittedModels FitModels(const StageContext& context, const LogSource& dynamics_log,
                       const LogSource& log, const std::optional<PolicySource>& behavior,
                       const LogSplit& split, std::int64_t classifiers);

// Whether the cache holds the first of the fits that FitModels makes.
bool HasFirstFit(const StageContext& context, const LogSource& log, const LogSplit& split);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_FIT_MODELS_H_
