#ifndef LFIW_POLICIES_PPO_PPO_OPTIONS_H_
#define LFIW_POLICIES_PPO_PPO_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"

namespace lfiw::policies {

// Proximal policy optimization (Schulman et al. 2017). The defaults are those of openai/baselines'
// PPO2 for MuJoCo, which the paper's policies were trained with.
struct PpoHyperparameters {
  std::int64_t rollout_steps = 2048;
  std::int64_t minibatches = 32;
  std::int64_t epochs = 10;
  double discount = 0.99;
  double gae_lambda = 0.95;
  double learning_rate = 3e-4;
  double clip_range = 0.2;
  double entropy_coefficient = 0.0;
  double value_coefficient = 0.5;
  double max_gradient_norm = 0.5;
  double adam_epsilon = 1e-5;
  double observation_clip = 10.0;
  double reward_clip = 10.0;
  std::vector<std::int64_t> hidden = {64, 64};

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("rollout_steps", rollout_steps, "environment steps between two updates", AtLeast(1));
    v.Field("minibatches", minibatches, "minibatches that one rollout is cut into", AtLeast(1));
    v.Field("epochs", epochs, "passes over a rollout in one update", AtLeast(1));
    v.Field("discount", discount,
            "discount of the advantages and of the return that scales rewards", Between(0.0, 1.0));
    v.Field("gae_lambda", gae_lambda, "lambda of generalized advantage estimation",
            Between(0.0, 1.0));
    v.Field("learning_rate", learning_rate, "Adam's step size at the start; falls linearly to 0",
            Positive());
    v.Field("clip_range", clip_range, "clip of probability ratios and of value changes",
            Positive());
    v.Field("entropy_coefficient", entropy_coefficient, "weight of the entropy bonus",
            AtLeast(0.0));
    v.Field("value_coefficient", value_coefficient, "weight of the value loss", AtLeast(0.0));
    v.Field("max_gradient_norm", max_gradient_norm, "limit of the gradient's norm", Positive());
    v.Field("adam_epsilon", adam_epsilon, "Adam's epsilon", Positive());
    v.Field("observation_clip", observation_clip, "limit of normalized observations", Positive());
    v.Field("reward_clip", reward_clip, "limit of scaled rewards", Positive());
    v.Field("hidden", hidden, "widths of the hidden layers of policy and value network",
            AtLeast(1));
  }
};

// One run of it.
struct PpoOptions : PpoHyperparameters {
  std::int64_t total_steps = 1'000'000;  // rounded down to whole rollouts
  std::vector<std::int64_t> snapshots;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("total_steps", total_steps, "environment steps of the whole run, in whole rollouts",
            AtLeast(1));
    PpoHyperparameters::Visit(v);
    v.Field("snapshots", snapshots,
            "step counts at which the policy is kept as well: the last update before each",
            AtLeast(0));
  }
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PPO_PPO_OPTIONS_H_
