#ifndef LFIW_EXPERIMENTS_EVALUATION_FIT_STAGE_H_
#define LFIW_EXPERIMENTS_EVALUATION_FIT_STAGE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config/any_options.h"
#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/run_context.h"
#include "ope/fit.h"
#include "ope/rollouts/model_rollout.h"

namespace lfiw::experiments {

// A registered fit (ope/fit.h) to a log and an evaluated policy, as a stage by the name fit_NAME.
struct FitStage {
  static constexpr StageInfo kInfo{.name = "fit", .layer = Layer::kOpe};
  struct Key {
    AnyOptions options;
    TaskKey task;
    EstimandOptions value;
    std::optional<RolloutOptions> rollout;  // for fits that read the dynamics
    std::vector<std::int64_t> episodes;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "of the fit");
      v.Field("task", task, "reward, termination and action bounds");
      v.Field("value", value, "the estimand");
      v.Field("rollout", rollout, "rewards and bounds of predictions in the model");
      v.Field("episodes", episodes, "logged episodes that the arrays are of");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const FitMethod& fit;
    std::string stage;  // name of the stage
    const Task& task;
    const LogSource& log;
    const PolicySource& policy;
    const FittedModels* models;        // for fits that read the dynamics
    const ActionDensities* densities;  // for fits that read them
    const PolicySource* behavior;      // for fits that read it; null where it is not known
    std::vector<std::string> Hashes() const;
  };
  static StageInfo Info(const Inputs& inputs);
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static FittedArrays Read(const Artifact& artifact);
};

// What fits that are made outside the cache may ask for (FittedDynamics).
struct FitRollouts {
  std::function<ModelRollouts()> roll_out;
  std::function<FittedArrays()> family;
};

// Runs a fit outside the cache.
FittedArrays RunFit(const FitStage::Key& key, const FitStage::Inputs& inputs, const FitRun& run,
                    const FitRollouts& rollouts);

// The estimand of a configuration.
Estimand EstimandOf(const EstimandOptions& options);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_FIT_STAGE_H_
