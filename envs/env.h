#ifndef LFIW_ENVS_ENV_H_
#define LFIW_ENVS_ENV_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"

namespace lfiw::envs {

// What an environment declares about itself, in one place.
struct EnvSpec {
  std::string name;  // canonical: "HalfCheetah"
  std::int64_t obs_dim = 0;
  std::int64_t action_dim = 0;
  // Outcomes of a step beside the next observation that the exact reward needs; may be empty.
  std::vector<std::string> aux_names;
  VectorD action_low;   // [action_dim], -infinity where unbounded
  VectorD action_high;  // [action_dim]
  std::int64_t max_episode_steps = 1000;
  double step_seconds = 0.0;  // time between two observations

  std::int64_t aux_dim() const { return static_cast<std::int64_t>(aux_names.size()); }
  // Whether aux is what positions of the root along x give: their change over step_seconds.
  bool aux_is_forward_velocity() const;
};

// Name of the aux that positions of the root give.
inline constexpr const char* kForwardVelocity = "x_velocity";

// Clips actions [n, action_dim] to the bounds as floats: at a bound the result equals
// static_cast<float>(bound), which may lie beyond the bound itself by a rounding error.
void ClipActions(const EnvSpec& spec, MatrixRef actions);

struct StepResult {
  double reward = 0.0;
  bool terminated = false;
};

// One environment that can be stepped. Not thread safe; several instances may run in parallel.
// Actions outside the bounds are clipped before physics and control cost alike: the same rule holds
// in truth, logs and models (callers log the clipped action). Floating-point results are double;
// callers cast to what they store.
class Env {
 public:
  virtual ~Env() = default;
  virtual const EnvSpec& spec() const = 0;
  // Draws an initial state from `stream` and writes its observation [obs_dim].
  virtual void Reset(Stream& stream, std::span<double> observation) = 0;
  // Executes `action` [action_dim]; writes the next observation [obs_dim] and aux [aux_dim].
  // Throws NumericError when an action is not finite or the physics becomes unstable (callers add
  // episode and step); the environment must then be reset.
  virtual StepResult Step(std::span<const double> action, std::span<double> observation,
                          std::span<double> aux) = 0;
  // All that the coming steps depend on. An instance of the same environment that loads it goes on
  // with the same bytes. LoadState throws DataError when the size is not this environment's.
  virtual std::vector<double> SaveState() const = 0;
  virtual void LoadState(std::span<const double> state) = 0;
};

// Where the reward on model output takes the forward velocity of a step from. Displacement is exact
// and needs aux; the others need observations only, and differ from it by the change of velocity
// within the step. Environments whose reward has no such term ignore the choice.
enum class RewardSource {
  kDisplacement,  // aux: displacement / step_seconds
  kTrapezoid,     // mean of the observed velocities before and after
  kEndVelocity,   // observed velocity after
};
constexpr auto EnumNames(RewardSource /*kind*/) {
  return std::to_array<std::string_view>({"displacement", "trapezoid", "end_velocity"});
}

// The reward and termination of an environment as batch functions on what a model predicts.
// Thread safe.
class TaskRules {
 public:
  virtual ~TaskRules() = default;
  // Columns of aux that Rewards reads: the environment's aux_dim, or 0 if it needs none.
  virtual std::int64_t aux_dim() const { return 0; }
  // rewards[i] = r(states[i], actions[i], next_states[i], aux[i]); all inputs have the same number
  // of rows, rewards [n]. Actions are clipped as in Env::Step.
  virtual void Rewards(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                       ConstMatrixRef aux, std::span<double> rewards) const = 0;
  // terminated[i] = 1 where the step from states[i] by actions[i] to next_states[i] ends the
  // episode; all inputs have the same number of rows, terminated [n].
  virtual void Terminated(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                          std::span<std::uint8_t> terminated) const = 0;
  // The rules without those of their parts that were fitted to the log's episode `episode`; null
  // where that are these rules themselves.
  virtual std::unique_ptr<TaskRules> Unseen(std::int64_t /*episode*/) const { return nullptr; }
};

// Constructs instances of one environment, which share all constant data (the compiled model).
class EnvFactory {
 public:
  virtual ~EnvFactory() = default;
  virtual const EnvSpec& spec() const = 0;
  virtual std::unique_ptr<Env> Make() const = 0;
  virtual std::unique_ptr<TaskRules> MakeTaskRules(RewardSource source) const = 0;
  std::unique_ptr<TaskRules> MakeTaskRules() const {
    return MakeTaskRules(RewardSource::kDisplacement);
  }
};

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_ENV_H_
