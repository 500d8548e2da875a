#ifndef LFIW_POLICIES_PPO_PPO_LEARNER_H_
#define LFIW_POLICIES_PPO_PPO_LEARNER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "models/adam.h"
#include "models/tanh_mlp.h"
#include "policies/ppo/ppo_options.h"

namespace lfiw::policies {

// One stretch of n environment steps as the networks see it.
struct PpoRollout {
  PpoRollout(std::int64_t steps, std::int64_t obs_dim, std::int64_t action_dim);
  std::int64_t steps() const { return actions.rows(); }

  MatrixF observations;             // [n + 1, obs_dim], normalized
  MatrixF actions;                  // [n, action_dim], as drawn
  std::vector<float> log_density;   // [n], of the drawn actions
  std::vector<float> rewards;       // [n], scaled
  std::vector<float> values;        // [n + 1]
  std::vector<std::uint8_t> ended;  // [n], 1 where the step was its episode's last
  std::vector<float> advantages;    // [n]
};

// Means over a minibatch, or over the minibatches of an update.
struct PpoLosses {
  double policy = 0.0;
  double value = 0.0;
  double entropy = 0.0;
  double approx_kl = 0.0;      // half the mean squared change of the log-density
  double clip_fraction = 0.0;  // of ratios outside 1 +- clip_range
};

// Actor, critic and their optimizer in one flat buffer: [actor | log_std, padded | critic].
class PpoLearner {
 public:
  // Orthogonal weights (gain sqrt 2; 0.01 for the action head, 1 for the value head), biases and
  // log_std 0.
  PpoLearner(std::int64_t obs_dim, std::int64_t action_dim, const PpoOptions& options,
             std::uint64_t seed);

  // Draws an action [action_dim] for one normalized observation with the given standard normal
  // noise [action_dim]; returns its log-density.
  float Act(const float* observation, const float* noise, float* action);

  // values[i] = V(observations[i]), all [n].
  void Values(const MatrixF& observations, std::span<float> values);

  // The loss of a minibatch (the rollout's listed rows, rollout_steps / minibatches of them),
  //   L = mean max(-A rho, -A clip(rho, 1 +- c)) - entropy_coefficient entropy
  //       + value_coefficient mean max((V - R)^2, (V_old + clip(V - V_old, +- c) - R)^2) / 2,
  // with rho the ratio of densities, A the advantages standardized within the minibatch and
  // R = A_raw + V_old; writes its derivatives to gradient().
  PpoLosses ComputeGradient(const PpoRollout& rollout, std::span<const std::int64_t> rows);

  // Scales the gradient to max_gradient_norm if it is longer, then takes one step of Adam as
  // TensorFlow defines it (epsilon beside the uncorrected root of the second moment).
  void Step(double learning_rate);

  const TanhMlp& actor() const { return actor_; }
  const TanhMlp& critic() const { return critic_; }
  std::span<float> log_std();
  const VectorF& gradient() const { return gradient_; }

  // All that an update changes, for checkpoints. [parameter_count] each.
  struct State {
    VectorF parameters;
    AdamState optimizer;
  };
  State state() const { return {parameters_, adam_.state()}; }
  void set_state(const State& state);
  const VectorF& parameters() const { return parameters_; }

 private:
  void UpdateInverseStd();
  // of a drawn action; UpdateInverseStd comes first
  float LogDensity(const float* action, const float* mean) const;
  void Gather(const PpoRollout& rollout, std::span<const std::int64_t> rows);
  void PolicyGradient(const PpoRollout& rollout, std::span<const std::int64_t> rows,
                      PpoLosses& losses);
  void ValueGradient(const PpoRollout& rollout, std::span<const std::int64_t> rows,
                     PpoLosses& losses);

  PpoOptions options_;
  TanhMlp actor_;
  TanhMlp critic_;
  std::int64_t log_std_offset_;
  std::int64_t critic_offset_;
  VectorF parameters_;
  VectorF gradient_;
  Adam adam_;
  TanhMlp::Workspace actor_workspace_;
  TanhMlp::Workspace critic_workspace_;
  // the current minibatch
  MatrixF observations_;
  VectorF advantages_;
  VectorF inverse_std_;
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PPO_PPO_LEARNER_H_
