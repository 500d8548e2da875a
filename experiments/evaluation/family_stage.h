#ifndef LFIW_EXPERIMENTS_EVALUATION_FAMILY_STAGE_H_
#define LFIW_EXPERIMENTS_EVALUATION_FAMILY_STAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/run_context.h"
#include "ope/rollouts/calibrated_model.h"

namespace lfiw::experiments {

// Values of one policy in every model of the family that a fitted ensemble spans.
struct FamilyStage {
  static constexpr StageInfo kInfo{.name = "family", .layer = Layer::kOpe};
  struct Key {
    TaskKey task;
    EstimandOptions value;
    RolloutOptions rollout;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("task", task, "reward, termination and action bounds");
      v.Field("value", value, "the estimand");
      v.Field("rollout", rollout, "rewards, bounds of predictions, trajectories of each member");
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

  static FamilyValues Read(const Artifact& artifact);
};

// Values of a policy in the family of the fitted models, as a stage.
FamilyValues ValuesInFamily(const StageContext& context, const LogSource& log,
                            const FittedModels& models, const PolicySource& policy);

// Makes the values that ValuesInFamily will read from the cache.
void PrepareFamily(const StageContext& context, const LogSource& log, const FittedModels& models,
                   const PolicySource& policy);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_FAMILY_STAGE_H_
