#ifndef LFIW_TESTS_EXPERIMENTS_EVALUATION_SMALL_EVALUATION_H_
#define LFIW_TESTS_EXPERIMENTS_EVALUATION_SMALL_EVALUATION_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/layers.h"
#include "envs/linear_gaussian.h"
#include "envs/linear_gaussian_env.h"
#include "experiments/evaluation/fit_models.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/run_context.h"
#include "policies/collect.h"
#include "policies/gaussian_mlp_policy.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {

// Evaluations so small that all of one is fitted in milliseconds.

inline constexpr std::int64_t kSmallSteps = 30;     // of each logged episode
inline constexpr std::int64_t kSmallHorizon = 5;    // of the estimand
inline constexpr std::int64_t kSmallEpisodes = 20;  // of the log

// Two states and an action, which is the reward: a policy whose mean action is m in every state is
// worth m a step, whatever the states and however badly they are predicted.
inline LinearGaussianSystem SmallSystem() {
  LinearGaussianSystem system = ZeroLinearGaussian(2, 1);
  system.state_matrix << 0.9, 0.1, 0.0, 0.8;
  system.action_matrix << 0.0, 0.3;
  system.noise_covariance = 0.01 * MatrixD::Identity(2, 2);
  system.initial_covariance = MatrixD::Identity(2, 2);
  system.action_reward << 1.0;
  return system;
}

// The policy u ~ N(mean, deviation^2) in every state of `obs_dim` dimensions, for each of the
// action's dimensions.
inline GaussianMlpPolicy ConstantPolicy(double mean, double deviation, std::int64_t obs_dim = 2,
                                        std::int64_t action_dim = 1) {
  const TanhMlp mlp({obs_dim, action_dim});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.SetBias(VectorF::Constant(action_dim, static_cast<float>(mean)), 0, parameters.data());
  const auto log_std = static_cast<float>(std::log(deviation));
  return {mlp, parameters, VectorF::Constant(action_dim, log_std), ObservationNormalizer(obs_dim),
          fmt::format("N({}, {}^2)", mean, deviation)};
}

// The same as a policy that no file holds.
inline PolicySource ConstantSource(const std::string& label, double mean, double deviation) {
  return {.path = label,
          .hash = fmt::format("{} {}", mean, deviation),
          .label = label,
          .policy = std::make_shared<GaussianMlpPolicy>(ConstantPolicy(mean, deviation))};
}

inline EvaluationConfig SmallConfig() {
  EvaluationConfig config;
  config.environment = kLinearGaussianName;
  config.value.horizon = kSmallHorizon;
  config.dynamics.members = 2;
  config.dynamics.network.width = 8;
  config.dynamics.fit.steps = 20;
  config.classifiers.instances = 2;
  config.classifiers.fit.network.width = 8;
  config.classifiers.fit.fit.steps = 20;
  config.rollout.repetitions = 3;
  config.rollout.episodes = 20;
  config.estimators.horizons = {};
  config.truth.episodes = 50;
  return config;
}

// A log of a small system, written by N(0, 1), with its split and an empty cache.
class SmallEvaluation : public ::testing::Test {
 protected:
  SmallEvaluation()
      : env_(MakeLinearGaussianFactory(SmallSystem())),
        task_{env_->spec(), env_},
        config_(SmallConfig()),
        behavior_(ConstantSource("behavior", 0.0, 1.0)) {
    log_.log = CollectEpisodes(
        *env_, *behavior_.policy,
        {.episodes = kSmallEpisodes, .horizon = kSmallSteps, .seed = 1, .purpose = "log"});
    log_.hash = "log";
    split_ = SplitLog(kSmallEpisodes, config_.log, config_.dynamics.members, config_.seed);
  }

  StageContext Context() { return {config_, task_, cache_, Verbosity::kQuiet}; }
  FittedModels Fit(std::int64_t classifiers) {
    return FitModels(Context(), log_, {}, split_, classifiers);
  }
  // The names of the stages that were computed and not reused, in order.
  std::vector<std::string> Computed() const {
    std::vector<std::string> names;
    for (const StageRecord& record : cache_.records()) {
      if (record.outcome == StageOutcome::kComputed) names.push_back(record.name);
    }
    return names;
  }

  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  std::shared_ptr<const EnvFactory> env_;
  Task task_;
  EvaluationConfig config_;
  PolicySource behavior_;
  LogSource log_;
  LogSplit split_;
};

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_EVALUATION_SMALL_EVALUATION_H_
