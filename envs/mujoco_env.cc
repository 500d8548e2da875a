#include "envs/mujoco_env.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "envs/mujoco_shared.h"
#include "envs/mujoco_task_rules.h"

namespace lfiw::envs {
namespace {

constexpr std::int64_t kTorso = 1;  // body 0 is the world

template <class Count>
std::span<const double> Values(const mjtNum* values, Count count) {
  return {values, static_cast<std::size_t>(count)};
}

class MujocoFactory final : public EnvFactory {
 public:
  explicit MujocoFactory(const MujocoTask& task) : shared_(LoadMujocoTask(task)) {}

  const EnvSpec& spec() const override { return shared_->spec; }
  std::unique_ptr<Env> Make() const override { return std::make_unique<MujocoEnv>(shared_); }
  std::unique_ptr<TaskRules> MakeTaskRules(RewardSource source) const override {
    return std::make_unique<MujocoTaskRules>(shared_, source);
  }

 private:
  std::shared_ptr<const MujocoShared> shared_;
};

}  // namespace

MujocoEnv::MujocoEnv(std::shared_ptr<const MujocoShared> shared)
    : shared_(std::move(shared)), data_(MakeMjData(*shared_->model)) {}

void MujocoEnv::Reset(Stream& stream, std::span<double> observation) {
  const MujocoTask& task = shared_->task;
  const mjModel& model = *shared_->model;
  std::vector<double> positions(model.qpos0, model.qpos0 + model.nq);
  std::vector<double> velocities(static_cast<std::size_t>(model.nv));
  for (double& q : positions) q += stream.Uniform(-task.reset_noise, task.reset_noise);
  for (double& v : velocities) {
    v = task.velocity_noise == VelocityNoise::kNormal
            ? task.reset_noise * stream.Normal()
            : stream.Uniform(-task.reset_noise, task.reset_noise);
  }
  ResetTo(positions, velocities, observation);
}

void MujocoEnv::ResetTo(std::span<const double> positions, std::span<const double> velocities,
                        std::span<double> observation) {
  mj_resetData(shared_->model.get(), data_.get());
  std::ranges::copy(positions, data_->qpos);
  std::ranges::copy(velocities, data_->qvel);
  mj_forward(shared_->model.get(), data_.get());
  Observe(observation);
}

StepResult MujocoEnv::Step(std::span<const double> action, std::span<double> observation,
                           std::span<double> aux) {
  const MujocoTask& task = shared_->task;
  const mjModel& model = *shared_->model;
  const double before = ForwardPosition();
  StepResult result;
  result.reward = task.bonus - task.control_cost * ApplyAction(action);
  Simulate();
  if (task.progress == RewardedProgress::kHeight) {
    result.reward += data_->qpos[2] / model.opt.timestep;
    result.reward -= ImpactCost(Values(data_->cfrc_ext, 6 * model.nbody));
  } else {
    const double x_velocity = (ForwardPosition() - before) / shared_->spec.step_seconds;
    result.reward += x_velocity;
    aux[0] = x_velocity;
  }
  Observe(observation);
  CheckStable();
  result.terminated =
      task.healthy != nullptr &&
      !task.healthy(Values(data_->qpos + task.hidden_positions, shared_->positions()),
                    Values(data_->qvel, model.nv));
  return result;
}

double MujocoEnv::ApplyAction(std::span<const double> action) {
  const EnvSpec& spec = shared_->spec;
  double squares = 0.0;
  for (std::int64_t i = 0; i < spec.action_dim; ++i) {
    const double value = action[static_cast<std::size_t>(i)];
    if (!std::isfinite(value)) {
      Throw<NumericError>("{}: action {} is {}, expected a finite number", spec.name, i, value);
    }
    data_->ctrl[i] = std::clamp(value, spec.action_low(i), spec.action_high(i));
    squares += data_->ctrl[i] * data_->ctrl[i];
  }
  return squares;
}

void MujocoEnv::Simulate() {
  const mjModel* model = shared_->model.get();
  for (int i = 0; i < shared_->task.frame_skip; ++i) mj_step(model, data_.get());
  // fills cfrc_ext, which no other task reads
  if (shared_->task.progress == RewardedProgress::kHeight) {
    mj_rnePostConstraint(model, data_.get());
  }
}

void MujocoEnv::Observe(std::span<double> observation) const {
  const MujocoTask& task = shared_->task;
  const mjModel& model = *shared_->model;
  auto out =
      std::copy_n(data_->qpos + task.hidden_positions, shared_->positions(), observation.begin());
  out = std::transform(data_->qvel, data_->qvel + model.nv, out, [&](double v) {
    return std::clamp(v, -task.velocity_limit, task.velocity_limit);
  });
  if (task.progress == RewardedProgress::kHeight) {
    out = std::copy_n(data_->cinert, 10 * model.nbody, out);
    out = std::copy_n(data_->cvel, 6 * model.nbody, out);
    out = std::copy_n(data_->qfrc_actuator, model.nv, out);
    std::copy_n(data_->cfrc_ext, 6 * model.nbody, out);
  }
}

double MujocoEnv::ForwardPosition() const {
  return shared_->task.progress == RewardedProgress::kTorsoPosition ? data_->xpos[3 * kTorso]
                                                                    : data_->qpos[0];
}

void MujocoEnv::CheckStable() const {
  // MuJoCo resets the state when it meets a bad number, so only its counters tell
  constexpr std::pair<mjtWarning, const char*> kBadNumbers[] = {
      {mjWARN_BADQPOS, "position"}, {mjWARN_BADQVEL, "velocity"}, {mjWARN_BADQACC, "acceleration"}};
  for (const auto& [warning, quantity] : kBadNumbers) {
    const mjWarningStat& stat = data_->warning[warning];
    if (stat.number > 0) {
      Throw<NumericError>(
          "{}: the physics became unstable: MuJoCo found a huge or undefined {} {}, expected a "
          "finite one below 1e10",
          shared_->spec.name, quantity, stat.lastinfo);
    }
  }
  const auto check = [&](std::span<const double> values, const char* quantity) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        Throw<NumericError>("{}: the physics became unstable: {} {} is {} after the step",
                            shared_->spec.name, quantity, i, values[i]);
      }
    }
  };
  const mjModel& model = *shared_->model;
  check(Values(data_->qpos, model.nq), "position");
  check(Values(data_->qvel, model.nv), "velocity");
  if (shared_->task.progress == RewardedProgress::kHeight) {
    check(Values(data_->cfrc_ext, 6 * model.nbody), "external force");
  }
}

template <class Visit>
void MujocoEnv::VisitState(const Visit& visit) const {
  const mjModel& model = *shared_->model;
  const auto span = [](mjtNum* values, int count) {
    return std::span<double>(values, static_cast<std::size_t>(count));
  };
  visit(span(&data_->time, 1));
  visit(span(data_->qpos, model.nq));
  visit(span(data_->qvel, model.nv));
  visit(span(data_->act, model.na));
  visit(span(data_->qacc_warmstart, model.nv));
  // the one derived quantity that is read before mj_step recomputes it
  visit(span(data_->xpos + 3 * kTorso, 3));
}

std::vector<double> MujocoEnv::SaveState() const {
  std::vector<double> state;
  VisitState([&](std::span<double> values) {
    for (const double value : values) state.push_back(value);
  });
  return state;
}

void MujocoEnv::LoadState(std::span<const double> state) {
  mj_resetData(shared_->model.get(), data_.get());
  std::size_t size = 0;
  VisitState([&](std::span<double> values) { size += values.size(); });
  if (state.size() != size) {
    Throw<DataError>("{}: state has {} values, expected {}", shared_->spec.name, state.size(),
                     size);
  }
  auto next = state.begin();
  VisitState([&](std::span<double> values) {
    for (double& value : values) value = *next++;
  });
}

std::shared_ptr<const EnvFactory> MakeMujocoFactory(const MujocoTask& task) {
  return std::make_shared<const MujocoFactory>(task);
}

}  // namespace lfiw::envs
