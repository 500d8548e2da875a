#ifndef LFIW_EXPERIMENTS_MBOPE_STAGES_H_
#define LFIW_EXPERIMENTS_MBOPE_STAGES_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/episode_batch.h"
#include "core/stage_cache.h"
#include "envs/env.h"
#include "experiments/mbope_config.h"
#include "experiments/terminal_progress.h"
#include "models/classifier.h"
#include "models/dynamics.h"
#include "ope/model_rollout.h"
#include "policies/collect.h"
#include "policies/gaussian_mlp_policy.h"
#include "policies/ppo.h"

namespace lfiw {

// The stages of model-based off-policy evaluation. Each is a function of its part of the
// configuration, the hashes of its inputs and the seed; the cache keeps what it makes, so a second
// run with another H or another estimator trains nothing.

// What every stage needs beside its inputs. All references outlive the stages.
struct StageContext {
  const MbopeConfig& config;
  const EnvFactory& env;
  StageCache& cache;
  Verbosity verbosity;
};

// Something made by a stage or given as a file, with the hash of its bytes for later stages.
struct PolicySource {
  std::string path;
  std::string hash;
};

struct PolicySet {
  PolicySource behavior, evaluation;
  nlohmann::json training = nlohmann::json::array();  // learning curves, as in report.json
};
PolicySet MakePolicies(const StageContext& context);

struct LogSource {
  EpisodeBatch log;
  std::string hash;
};
// The log file named in the configuration, checked against the environment.
LogSource OpenLog(const StageContext& context, const std::string& path);
// Episodes of the behavior policy.
LogSource CollectLog(const StageContext& context, const PolicySource& behavior);

MonteCarloEstimate MakeTruth(const StageContext& context, const PolicySource& evaluation);

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

// Everything that is fitted to a log, and the rollouts of the evaluation policy in it.
struct FittedModels {
  explicit FittedModels(DynamicsEnsemble ensemble) : dynamics(std::move(ensemble)) {}

  DynamicsEnsemble dynamics;
  nlohmann::json dynamics_report;  // member "dynamics" of report.json
  std::vector<RatioClassifier> classifiers;
  nlohmann::json classifier_history;  // as in report.json
  // Log-ratios on transitions of episodes that a classifier did not see: real ones and ones that
  // the model made from the same (s, a), all classifiers pooled.
  std::vector<double> held_out_real, held_out_generated;
  ModelRollouts rollouts;
};

// Fits dynamics and `classifiers` classifiers, and rolls the evaluation policy out.
FittedModels FitModels(const StageContext& context, const LogSource& log,
                       const PolicySource& evaluation, const LogSplit& split,
                       std::int64_t classifiers);

// Writes policy.npz, policy_STEPS.npz of every snapshot and curve.csv into `directory`.
void SavePpoResult(const PpoResult& result, const std::string& directory);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_MBOPE_STAGES_H_
