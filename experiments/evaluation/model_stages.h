#ifndef LFIW_EXPERIMENTS_EVALUATION_MODEL_STAGES_H_
#define LFIW_EXPERIMENTS_EVALUATION_MODEL_STAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/evaluation/run_context.h"
#include "models/classifier.h"
#include "models/classifier_fit.h"
#include "models/dynamics.h"
#include "models/dynamics_checks.h"
#include "models/dynamics_fit.h"
#include "models/learned_function.h"
#include "models/learned_function_fit.h"

namespace lfiw::experiments {

// The stages that fit something to a log, and what each of them keeps.

// One member of an ensemble of dynamics models, so that processes share the members.
struct DynamicsMemberStage {
  static constexpr StageInfo kInfo{.name = "dynamics_member", .layer = Layer::kModels};
  struct Key {
    DynamicsOptions options;
    std::int64_t index = 0;
    std::vector<std::int64_t> episodes;
    std::vector<std::int64_t> skipped;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "network and training; the number of members plays no part");
      v.Field("index", index, "which of the members; names its bootstrap and first weights");
      v.Field("episodes", episodes, "logged episodes that train the ensemble");
      v.Field("skipped", skipped, "of these, the ones that this member leaves out");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const LogSource& log;
    std::vector<std::string> Hashes() const { return {log.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static DynamicsMember Read(const Artifact& artifact);
};

// An ensemble of dynamics models, of the members that were fitted as stages.
struct DynamicsStage {
  static constexpr StageInfo kInfo{.name = "dynamics", .layer = Layer::kModels};
  struct Key {
    DynamicsOptions options;
    std::vector<std::int64_t> episodes;
    std::vector<std::vector<std::int64_t>> skipped;  // by member, empty without cross-fitting
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "networks and training");
      v.Field("episodes", episodes, "logged episodes that train it");
      v.Field("skipped", skipped, "of these, the ones that each member leaves out");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const LogSource& log;
    // Artifacts of DynamicsMemberStage, in order: they follow from the log and the key. Empty: the
    // members are fitted here.
    const std::vector<Artifact>& members;
    std::vector<std::string> Hashes() const { return {log.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static void Save(const DynamicsEnsemble& ensemble, const StageWork& work);
  static DynamicsEnsemble Ensemble(const Artifact& artifact);
  // Learning curves, one per member.
  static std::vector<FitHistory> Histories(const Artifact& artifact);
  // What residuals say about noise, without its factor; none where it was not asked.
  static std::optional<NoiseEvidence> Noise(const Artifact& artifact);
};

// How well the dynamics predicts episodes that it was not trained on.
struct DynamicsReport {
  DynamicsErrors errors;
  std::vector<double> open_loop;  // as OpenLoopError returns it
};

struct DynamicsReportStage {
  static constexpr StageInfo kInfo{.name = "dynamics_report", .layer = Layer::kModels};
  struct Key {
    std::vector<std::int64_t> episodes;
    std::int64_t horizon = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("episodes", episodes, "logged episodes that are predicted");
      v.Field("horizon", horizon, "most steps of an open-loop prediction");
    }
  };
  struct Inputs {
    const LogSource& log;
    const Artifact& dynamics;
    const DynamicsEnsemble& ensemble;  // of `dynamics`
    std::vector<std::string> Hashes() const { return {log.hash, dynamics.content_hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static DynamicsReport Read(const Artifact& artifact);
};

// One classifier of real against generated transitions, on its own bootstrap of the episodes.
struct ClassifierStage {
  static constexpr StageInfo kInfo{.name = "classifier", .layer = Layer::kModels};
  struct Key {
    ClassifierOptions options;
    std::int64_t index = 0;
    std::vector<std::int64_t> episodes;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "network and training");
      v.Field("index", index, "which of the classifiers; names its bootstrap");
      v.Field("episodes", episodes, "logged episodes that it is drawn from");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const LogSource& log;
    const Artifact& dynamics;
    const DynamicsEnsemble& ensemble;  // of `dynamics`
    std::vector<std::string> Hashes() const { return {log.hash, dynamics.content_hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static RatioClassifier Classifier(const Artifact& artifact);
  static FitHistory History(const Artifact& artifact);
};

// Log-ratios of a classifier on transitions of the episodes that its bootstrap left out.
struct HeldOutRatios {
  std::vector<double> real;
  std::vector<double> generated;       // made by the model from the same states and actions
  std::vector<std::int64_t> episodes;  // of each row
};
HeldOutRatios ReadHeldOut(const Artifact& classifier);

// Held-out errors of a learned reward, in its unit.
struct RewardErrors {
  double rmse = 0.0;
  double mean_error = 0.0;   // predicted - logged
  std::optional<double> r2;  // share of the variance explained; none where rewards do not vary
};

// Held-out errors of a learned termination.
struct TerminationErrors {
  double log_loss = 0.0;          // nats per step
  std::int64_t positives = 0;     // steps that end an episode
  std::int64_t missed = 0;        // of these, steps with probability below 1/2
  std::int64_t false_alarms = 0;  // other steps with probability 1/2 or more
};

// A reward or termination learned from the dynamics' episodes.
struct LearnedFunctionStage {
  static constexpr StageInfo kInfo{.name = "learned_function", .layer = Layer::kModels};
  struct Key {
    FunctionKind kind = FunctionKind::kReward;
    LearnedFunctionOptions options;
    std::vector<std::int64_t> episodes;
    std::vector<std::vector<std::int64_t>> skipped;  // by member, empty without cross-fitting
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("kind", kind, "what is learned");
      v.Field("options", options, "networks and training");
      v.Field("episodes", episodes, "logged episodes that train it");
      v.Field("skipped", skipped, "of these, the ones that each member leaves out");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const LogSource& log;
    std::vector<std::string> Hashes() const { return {log.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static LearnedFunction Function(const Artifact& artifact);
  static RewardErrors ReadRewardErrors(const Artifact& artifact);
  static TerminationErrors ReadTerminationErrors(const Artifact& artifact);
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_MODEL_STAGES_H_
