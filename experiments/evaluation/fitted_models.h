#ifndef LFIW_EXPERIMENTS_EVALUATION_FITTED_MODELS_H_
#define LFIW_EXPERIMENTS_EVALUATION_FITTED_MODELS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/layers.h"
#include "envs/env.h"
#include "experiments/evaluation/log_split.h"
#include "experiments/evaluation/model_stages.h"
#include "experiments/evaluation/run_context.h"
#include "models/classifier.h"
#include "models/dynamics.h"
#include "models/learned_function.h"
#include "models/scalar_of_transition.h"

namespace lfiw::experiments {

// Held-out errors of what is learned beside the dynamics; empty where nothing is.
struct LearnedErrors {
  std::optional<RewardErrors> reward;
  std::optional<TerminationErrors> termination;
  std::string termination_note;  // why a learned termination is not used
};

// Everything that is fitted to a log; all evaluated policies share it.
struct FittedModels {
  explicit FittedModels(DynamicsEnsemble ensemble) : dynamics(std::move(ensemble)) {}

  DynamicsEnsemble dynamics;
  std::vector<FitHistory> dynamics_histories;  // [members]
  DynamicsReport dynamics_report;
  std::vector<RatioClassifier> classifiers;
  std::vector<FitHistory> classifier_histories;  // [classifiers]
  HeldOutRatios held_out;                        // of all classifiers, pooled
  // Where the configuration asks for them and the log has what they need.
  std::shared_ptr<const ScalarOfTransition> reward;
  std::shared_ptr<const LearnedFunction> termination;
  LearnedErrors learned;
  std::vector<std::string> hashes;        // of all artifacts, for later stages
  std::vector<std::string> model_hashes;  // of all but the classifiers
};

// Fits dynamics, `classifiers` classifiers, and reward and termination where they are learned. Each
// is a stage of its own, kept by the cache.
FittedModels FitModels(const StageContext& context, const LogSource& log, const LogSplit& split,
                       std::int64_t classifiers);

// Fits the same with the dynamics fitted to the same episodes of another log of as many.
FittedModels FitModels(const StageContext& context, const LogSource& dynamics_log,
                       const LogSource& log, const LogSplit& split, std::int64_t classifiers);

// Returns reward and termination on what the model predicts. `env` is null where only a log is
// known, `source` says what the environment's reward is computed from.
std::unique_ptr<TaskRules> ModelTaskRules(const TaskKey& task, const EnvFactory* env,
                                          RewardSource source, const FittedModels& models);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_FITTED_MODELS_H_
