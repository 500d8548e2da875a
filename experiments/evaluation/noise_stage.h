#ifndef LFIW_EXPERIMENTS_EVALUATION_NOISE_STAGE_H_
#define LFIW_EXPERIMENTS_EVALUATION_NOISE_STAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/evaluation/fitted_models.h"
#include "experiments/evaluation/run_context.h"
#include "ope/judgement/backtest.h"
#include "ope/rollouts/model_rollout.h"

namespace lfiw::experiments {

// Returns the index of the scale to take: all of the noise unless its value differs from the log's
// by more than two standard errors, else the one whose value is nearest. values[k], errors[k]
// belong to descending scales.
std::size_t ChooseNoise(std::span<const double> values, std::span<const double> errors,
                        const Backtest& logged);

// The ensemble with the chosen noise.
struct NoiseStage {
  static constexpr StageInfo kInfo{.name = "noise", .layer = Layer::kOpe};
  struct Key {
    TaskKey task;
    EstimandOptions value;
    RolloutOptions rollout;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("task", task, "reward, termination and action bounds");
      v.Field("value", value, "the estimand");
      v.Field("rollout", rollout, "rewards and bounds of predictions in the model");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const Task& task;
    const LogSource& log;
    const FittedModels& models;  // with all of the noise
    const PolicySource& behavior;
    const Artifact& dynamics;  // the ensemble of `models`
    std::vector<std::string> Hashes() const;
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  // The artifact holds the ensemble as that of a DynamicsStage does.
  static NoiseChoice Choice(const Artifact& artifact);
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_NOISE_STAGE_H_
