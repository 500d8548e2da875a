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

// How much of the noise that residuals show a model should have, by what the policy that wrote the
// log returns in it. Residuals of a simulator look like noise where all members make the same
// error; drawn anew at every step it grows along a rollout into most of the model's bias.
struct NoiseChoice {
  std::vector<double> scales;  // of the measured noise, descending
  std::vector<double> values;  // of the logged policy in the model with that noise
  std::vector<double> errors;  // their standard errors
  double logged = 0.0;         // its value by the log
  double chosen = 1.0;         // one of the scales
};

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
  Artifact fitted;                             // the ensemble as it was fitted, with all its noise
  std::vector<FitHistory> dynamics_histories;  // [members]
  std::optional<NoiseEvidence> noise;          // of DynamicsChoice::kAuto
  std::optional<NoiseChoice> noise_choice;     // likewise, where the logged policy is there to ask
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

// Returns reward and termination on what the model predicts. `env` is null where only a log is
// known, `source` says what the environment's reward is computed from.
std::unique_ptr<TaskRules> ModelTaskRules(const TaskKey& task, const EnvFactory* env,
                                          RewardSource source, const FittedModels& models);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_FITTED_MODELS_H_
