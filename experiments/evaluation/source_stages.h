#ifndef LFIW_EXPERIMENTS_EVALUATION_SOURCE_STAGES_H_
#define LFIW_EXPERIMENTS_EVALUATION_SOURCE_STAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage.h"
#include "envs/env.h"
#include "experiments/evaluation/run_context.h"
#include "policies/behavior_cloning.h"
#include "policies/collect.h"
#include "policies/ppo/ppo.h"

namespace lfiw::experiments {

// The stages that an evaluation starts from: policies, the log, the truth.

// One PPO run: policy.npz, a file for each snapshot, and its learning curve.
struct PolicyStage {
  static constexpr StageInfo kInfo{.name = "policy", .layer = Layer::kPolicies};
  struct Key {
    std::string environment;
    PpoOptions ppo;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("environment", environment, "what the policy is trained in");
      v.Field("ppo", ppo, "the training");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const EnvFactory& env;  // of key.environment
    std::string title;      // of the progress bar
    std::vector<std::string> Hashes() const { return {}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  // The file of the policy at the end, of a snapshot, and of the learning curve.
  static constexpr const char* kPolicyFile = "policy.npz";
  static std::string SnapshotFile(std::int64_t steps);
  static TrainingCurve CurveOf(const Artifact& run, const std::string& label);
};

// Writes what PolicyStage holds into `directory`: the policies, curve.npz, and curve.csv to be
// read by people.
void SavePpoResult(const PpoResult& result, const std::string& directory);

// A policy fitted to the actions of a log.
struct BehaviorCloneStage {
  static constexpr StageInfo kInfo{.name = "behavior_clone", .layer = Layer::kPolicies};
  struct Key {
    CloningOptions options;
    std::vector<double> action_low, action_high;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "the fit");
      v.Field("action_low", action_low, "lowest action of each dimension");
      v.Field("action_high", action_high, "highest action of each dimension");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const LogSource& log;
    std::vector<std::string> Hashes() const { return {log.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static constexpr const char* kPolicyFile = "clone.npz";
};

// Episodes of a policy in an environment.
struct LogStage {
  static constexpr StageInfo kInfo{.name = "log", .layer = Layer::kPolicies};
  struct Key {
    std::string environment;
    std::int64_t episodes = 0;
    std::int64_t horizon = 0;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("environment", environment, "what is logged");
      v.Field("episodes", episodes, "number of episodes");
      v.Field("horizon", horizon, "most steps of an episode");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const EnvFactory& env;  // of key.environment
    const PolicySource& behavior;
    std::vector<std::string> Hashes() const { return {behavior.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static constexpr const char* kLogFile = "log.npz";
};

// The Monte Carlo value of a policy in its environment.
struct TruthStage {
  static constexpr StageInfo kInfo{.name = "truth", .layer = Layer::kPolicies};
  struct Key {
    std::string environment;
    std::int64_t episodes = 0;
    std::int64_t horizon = 0;
    double discount = 1.0;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("environment", environment, "where the policy acts");
      v.Field("episodes", episodes, "number of episodes");
      v.Field("horizon", horizon, "most steps of an episode");
      v.Field("discount", discount, "factor per step");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const EnvFactory& env;  // of key.environment
    const PolicySource& policy;
    std::vector<std::string> Hashes() const { return {policy.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  // The sum of discounted rewards, before any other scale.
  static MonteCarloEstimate Read(const Artifact& artifact);
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_SOURCE_STAGES_H_
