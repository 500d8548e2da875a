#ifndef LFIW_TESTS_POLICIES_FAKE_ENV_H_
#define LFIW_TESTS_POLICIES_FAKE_ENV_H_

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/layers.h"
#include "envs/env.h"

namespace lfiw::policies {

struct PointOptions {
  std::int64_t max_episode_steps = 40;
  double wall = 1e9;   // the episode terminates beyond
  double cliff = 1e9;  // the physics is unstable beyond
};

// A point x on a line that the first of two actions moves towards a goal g, both drawn at reset:
//   x' = x + 0.3 a_0,  reward -(x' - g)^2 - 0.1 a_1^2,  observation (x, g, 7), aux (x' - x).
class PointEnv final : public Env {
 public:
  PointEnv(const EnvSpec& spec, const PointOptions& options) : spec_(spec), options_(options) {}

  const EnvSpec& spec() const override { return spec_; }

  void Reset(Stream& stream, std::span<double> observation) override {
    x_ = stream.Uniform(-1.0, 1.0);
    goal_ = stream.Uniform(-1.0, 1.0);
    Observe(observation);
  }

  StepResult Step(std::span<const double> action, std::span<double> observation,
                  std::span<double> aux) override {
    const double move = 0.3 * std::clamp(action[0], -1.0, 1.0);
    const double waste = std::clamp(action[1], -0.4, 0.4);
    x_ += move;
    aux[0] = move;
    Observe(observation);
    if (std::abs(x_) > options_.cliff) Throw<NumericError>("x is {}", x_);
    return {-(x_ - goal_) * (x_ - goal_) - 0.1 * waste * waste, std::abs(x_) > options_.wall};
  }

  std::vector<double> SaveState() const override { return {x_, goal_}; }
  void LoadState(std::span<const double> state) override {
    if (state.size() != 2) Throw<DataError>("state has {} values, expected 2", state.size());
    x_ = state[0];
    goal_ = state[1];
  }

 private:
  void Observe(std::span<double> observation) const {
    observation[0] = x_;
    observation[1] = goal_;
    observation[2] = 7.0;
  }

  const EnvSpec& spec_;
  PointOptions options_;
  double x_ = 0.0;
  double goal_ = 0.0;
};

class PointFactory final : public EnvFactory {
 public:
  explicit PointFactory(const PointOptions& options = {}) : options_(options) {
    spec_.name = "Point";
    spec_.obs_dim = 3;
    spec_.action_dim = 2;
    spec_.aux_names = {"displacement"};
    spec_.action_low = VectorD{{-1.0, -0.4}};
    spec_.action_high = VectorD{{1.0, 0.4}};
    spec_.max_episode_steps = options.max_episode_steps;
    spec_.step_seconds = 0.1;
  }

  const EnvSpec& spec() const override { return spec_; }
  std::unique_ptr<Env> Make() const override { return std::make_unique<PointEnv>(spec_, options_); }
  std::unique_ptr<TaskRules> MakeTaskRules(RewardSource) const override { return nullptr; }

 private:
  PointOptions options_;
  EnvSpec spec_;
};

}  // namespace lfiw::policies

#endif  // LFIW_TESTS_POLICIES_FAKE_ENV_H_
