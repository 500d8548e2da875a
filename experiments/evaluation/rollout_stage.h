#ifndef LFIW_EXPERIMENTS_EVALUATION_ROLLOUT_STAGE_H_
#define LFIW_EXPERIMENTS_EVALUATION_ROLLOUT_STAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/run_context.h"
#include "ope/rollouts/model_rollout.h"

namespace lfiw::experiments {

// Rollouts of a policy in the fitted model, with the log-weights of all classifiers.
struct RolloutStage {
  static constexpr StageInfo kInfo{.name = "rollouts", .layer = Layer::kOpe};
  struct Key {
    TaskKey task;
    RolloutOptions options;
    std::int64_t horizon = 0;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("task", task, "reward, termination and action bounds");
      v.Field("options", options, "the rollouts");
      v.Field("horizon", horizon, "steps of each");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const Task& task;
    const LogSource& log;
    const FittedModels& models;
    const PolicySource& policy;
    std::vector<std::string> Hashes() const;
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static ModelRollouts Read(const Artifact& artifact);
};

// Rolls a policy out in the fitted model, as a stage.
ModelRollouts RollOut(const StageContext& context, const LogSource& log, const FittedModels& models,
                      const PolicySource& policy);

// Makes the rollouts that RollOut will read from the cache.
void PrepareRollOut(const StageContext& context, const LogSource& log, const FittedModels& models,
                    const PolicySource& policy);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_ROLLOUT_STAGE_H_
