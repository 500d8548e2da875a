#ifndef LFIW_EXPERIMENTS_EVALUATION_MODEL_STAGES_H_
#define LFIW_EXPERIMENTS_EVALUATION_MODEL_STAGES_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/layers.h"
#include "envs/env.h"
#include "experiments/evaluation/sources.h"
#include "experiments/evaluation_config.h"
#include "models/classifier.h"
#include "models/dynamics.h"
#include "models/learned_function.h"
#include "models/scalar_of_transition.h"
#include "ope/rollouts/model_rollout.h"

namespace lfiw::experiments {

// Which episodes of the log train what. Without cross-fitting no episode is in both parts, though a
// bootstrap may repeat one within its part; with it both hold all episodes.
struct LogSplit {
  std::vector<std::int64_t> dynamics;
  std::vector<std::int64_t> classifiers;
  // For each member of the ensemble the episodes that it leaves out; empty without cross-fitting.
  std::vector<std::vector<std::int64_t>> skipped;
};
LogSplit SplitLog(std::int64_t episodes, const LogOptions& options, std::int64_t members,
                  std::uint64_t seed);
// The episodes of both parts resampled with replacement; cross-fitting keeps its folds.
LogSplit ResampleLog(const LogSplit& split, std::uint64_t seed, std::uint64_t replicate);

// Everything that is fitted to a log; all evaluated policies share it.
struct FittedModels {
  explicit FittedModels(DynamicsEnsemble ensemble) : dynamics(std::move(ensemble)) {}

  DynamicsEnsemble dynamics;
  nlohmann::json dynamics_report;  // member "dynamics" of report.json
  std::vector<RatioClassifier> classifiers;
  nlohmann::json classifier_history;  // as in report.json
  // Log-ratios on transitions of episodes that a classifier did not see: real ones and ones that
  // the model made from the same (s, a), all classifiers pooled.
  std::vector<double> held_out_real, held_out_generated;
  // Where the configuration asks for them and the log has what they need.
  std::shared_ptr<const ScalarOfTransition> reward;
  std::shared_ptr<const LearnedFunction> termination;
  nlohmann::json learned_report = nlohmann::json::object();  // "learned" of report.json
  std::vector<std::string> hashes;                           // of all artifacts, for later stages
  std::vector<std::string> model_hashes;                     // of all but the classifiers
};

// Fits dynamics, `classifiers` classifiers, and reward and termination where they are learned. Each
// is a stage of its own, kept by the cache.
FittedModels FitModels(const StageContext& context, const LogSource& log, const LogSplit& split,
                       std::int64_t classifiers);

// The same with the dynamics fitted to the same episodes of another log of as many.
FittedModels FitModels(const StageContext& context, const LogSource& dynamics_log,
                       const LogSource& log, const LogSplit& split, std::int64_t classifiers);

// Reward and termination on what the model predicts.
std::unique_ptr<TaskRules> FunctionsFor(const StageContext& context, const FittedModels& models);

// Rolls a policy out in the fitted model, as a stage.
ModelRollouts RollOut(const StageContext& context, const LogSource& log, const FittedModels& models,
                      const PolicySource& policy_source);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_MODEL_STAGES_H_
