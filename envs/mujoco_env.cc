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

bool IsDisplacement(RewardedProgress progress) {
  return progress == RewardedProgress::kRootPosition ||
         progress == RewardedProgress::kTorsoPosition || progress == RewardedProgress::kMassCenter;
}

// Velocities and forces of the double pendulum are clipped.
double ClipBalanced(double value) { return std::clamp(value, -10.0, 10.0); }

void DrawNoise(const MujocoTask& task, Stream& stream, std::span<double> positions,
               std::span<double> velocities) {
  for (double& q : positions) q += stream.Uniform(-task.reset_noise, task.reset_noise);
  for (double& v : velocities) {
    v = task.velocity_noise == VelocityNoise::kNormal
            ? task.reset_noise * stream.Normal()
            : stream.Uniform(-task.reset_noise, task.reset_noise);
  }
}

// Draws velocities but the last `resting` ones.
void DrawSlowVelocities(Stream& stream, std::size_t resting, std::span<double> velocities) {
  for (double& v : velocities.first(velocities.size() - resting)) {
    v = stream.Uniform(-0.005, 0.005);
  }
}

void DrawReacher(Stream& stream, std::span<double> positions, std::span<double> velocities) {
  for (double& q : positions.first(2)) q += stream.Uniform(-0.1, 0.1);
  const std::span<double> target = positions.last(2);
  do {
    for (double& x : target) x = stream.Uniform(-0.2, 0.2);
  } while (!(std::hypot(target[0], target[1]) < 0.2));
  DrawSlowVelocities(stream, 2, velocities);
}

void DrawPusher(Stream& stream, std::span<double> positions, std::span<double> velocities) {
  const std::span<double> object = positions.last(4);
  do {
    object[0] = stream.Uniform(-0.3, 0.0);
    object[1] = stream.Uniform(-0.2, 0.2);
  } while (!(std::hypot(object[0], object[1]) > 0.17));
  DrawSlowVelocities(stream, 4, velocities);
}

class MujocoFactory final : public EnvFactory {
 public:
  MujocoFactory(const MujocoTask& task, const std::string& name)
      : shared_(LoadMujocoTask(task, name)) {}

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
  const mjModel& model = *shared_->model;
  std::vector<double> positions(model.qpos0, model.qpos0 + model.nq);
  std::vector<double> velocities(static_cast<std::size_t>(model.nv));
  switch (shared_->task.reset) {
    case Reset::kNoise:
      DrawNoise(shared_->task, stream, positions, velocities);
      break;
    case Reset::kReacher:
      DrawReacher(stream, positions, velocities);
      break;
    case Reset::kPusher:
      DrawPusher(stream, positions, velocities);
      break;
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
  const double before = Progress();
  const double squares = ApplyAction(action);
  Simulate();
  CheckStable();
  const bool healthy = IsHealthy();
  StepResult result;
  result.reward = (task.EarnsBonus(healthy) ? task.bonus : 0.0) - task.control_cost * squares;
  result.terminated = task.Ends(healthy);
  double progress = task.rewards_start ? before : Progress();
  if (IsDisplacement(task.progress)) {
    const double velocity = (progress - before) / shared_->spec.step_seconds;
    progress = task.progress_weight * velocity;
    if (shared_->aux == AuxKind::kVelocity) aux[0] = velocity;
  }
  result.reward += progress;
  double contacts = 0.0;
  if (task.CostsContacts()) {
    contacts = task.contact(Values(data_->cfrc_ext, 6 * shared_->model->nbody));
    result.reward -= contacts;
  }
  if (shared_->aux == AuxKind::kRewardTerm) {
    // the height is observed, if it is what counts
    aux[0] = (task.progress == RewardedProgress::kHeight ? 0.0 : progress) - contacts;
  }
  Observe(observation);
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
  if (shared_->task.UsesContactForces()) mj_rnePostConstraint(model, data_.get());
}

void MujocoEnv::Observe(std::span<double> observation) const {
  const mjModel& model = *shared_->model;
  const MujocoTask& task = shared_->task;
  auto out = observation.begin();
  const auto add = [&](double value) { *out++ = value; };
  const auto body = [&](std::size_t i) { return data_->xpos + 3 * shared_->bodies[i]; };
  switch (task.observation) {
    case Observation::kState:
      ObserveState(observation);
      return;
    case Observation::kReacher:
      for (int i = 0; i < 2; ++i) add(std::cos(data_->qpos[i]));
      for (int i = 0; i < 2; ++i) add(std::sin(data_->qpos[i]));
      for (int i = 2; i < 4; ++i) add(data_->qpos[i]);
      for (int i = 0; i < 2; ++i) add(data_->qvel[i]);
      for (int i = 0; i < (task.derived.constants ? 3 : 2); ++i) add(body(0)[i] - body(1)[i]);
      return;
    case Observation::kPusher:
      out = std::copy_n(data_->qpos, model.nu, out);
      out = std::copy_n(data_->qvel, model.nu, out);
      for (std::size_t i = 0; i < 3; ++i) out = std::copy_n(body(i), 3, out);
      return;
    case Observation::kDoublePendulum:
      add(data_->qpos[0]);
      for (int i = 1; i < 3; ++i) add(std::sin(data_->qpos[i]));
      for (int i = 1; i < 3; ++i) add(std::cos(data_->qpos[i]));
      for (int i = 0; i < model.nv; ++i) add(ClipBalanced(data_->qvel[i]));
      for (int i = 0; i < (task.derived.constants ? model.nv : 1); ++i) {
        add(ClipBalanced(data_->qfrc_constraint[i]));
      }
      return;
  }
}

void MujocoEnv::ObserveState(std::span<double> observation) const {
  const MujocoTask& task = shared_->task;
  const DerivedQuantities& derived = task.derived;
  const mjModel& model = *shared_->model;
  auto out = std::copy_n(data_->qpos + task.skipped_positions(), shared_->positions(),
                         observation.begin());
  out = std::transform(data_->qvel, data_->qvel + model.nv, out, [&](double v) {
    return std::clamp(v, -task.velocity_limit, task.velocity_limit);
  });
  // the world and the free joint come first
  const int body = derived.constants ? 0 : 1;
  const int joint = derived.constants ? 0 : 6;
  if (derived.inertia) {
    out = std::copy(data_->cinert + 10 * body, data_->cinert + 10 * model.nbody, out);
  }
  if (derived.velocity) {
    out = std::copy(data_->cvel + 6 * body, data_->cvel + 6 * model.nbody, out);
  }
  if (derived.actuator_forces) {
    out = std::copy(data_->qfrc_actuator + joint, data_->qfrc_actuator + model.nv, out);
  }
  if (derived.contact_forces) {
    const Interval& range = task.contact.force;
    std::transform(data_->cfrc_ext + 6 * body, data_->cfrc_ext + 6 * model.nbody, out,
                   [&](double f) { return std::clamp(f, range.low, range.high); });
  }
}

double MujocoEnv::MassCenter() const {
  const mjModel& model = *shared_->model;
  double sum = 0.0, mass = 0.0;
  for (int b = 0; b < model.nbody; ++b) {
    sum += model.body_mass[b] * data_->xipos[3 * b];
    mass += model.body_mass[b];
  }
  return sum / mass;
}

double MujocoEnv::Distance(std::size_t a, std::size_t b) const {
  return mju_dist3(data_->xpos + 3 * shared_->bodies[a], data_->xpos + 3 * shared_->bodies[b]);
}

double MujocoEnv::Progress() const {
  const MujocoTask& task = shared_->task;
  switch (task.progress) {
    case RewardedProgress::kNone:
      return 0.0;
    case RewardedProgress::kRootPosition:
      return data_->qpos[0];
    case RewardedProgress::kTorsoPosition:
      return data_->xpos[3 * kTorso];
    case RewardedProgress::kMassCenter:
      return MassCenter();
    case RewardedProgress::kHeight:
      return task.progress_weight * data_->qpos[2] / shared_->model->opt.timestep;
    case RewardedProgress::kReach:
      return -task.progress_weight * Distance(0, 1);
    case RewardedProgress::kPush:
      return -task.progress_weight * Distance(1, 2) - task.near_weight * Distance(1, 0);
    case RewardedProgress::kBalance:
      break;
  }
  return -BalancePenalty(data_->site_xpos[0], data_->site_xpos[2], data_->qvel[1], data_->qvel[2]);
}

bool MujocoEnv::IsHealthy() const {
  const MujocoTask& task = shared_->task;
  if (task.healthy.tip_above_one) return !(data_->site_xpos[2] <= 1.0);
  return task.healthy(
      Values(data_->qpos + task.hidden_positions, shared_->model->nq - task.hidden_positions),
      Values(data_->qvel, shared_->model->nv));
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
  if (shared_->task.UsesContactForces()) {
    check(Values(data_->cfrc_ext, 6 * model.nbody), "external force");
  }
}

template <class Visit>
void MujocoEnv::VisitState(const Visit& visit) const {
  const mjModel& model = *shared_->model;
  // sizes are int or, from MuJoCo 3.4 on, wider
  const auto span = [](mjtNum* values, auto count) {
    return std::span<double>(values, static_cast<std::size_t>(count));
  };
  visit(span(&data_->time, 1));
  visit(span(data_->qpos, model.nq));
  visit(span(data_->qvel, model.nv));
  visit(span(data_->act, model.na));
  visit(span(data_->qacc_warmstart, model.nv));
  // the derived quantities that are read before mj_step recomputes them
  switch (shared_->task.progress) {
    case RewardedProgress::kMassCenter:
      visit(span(data_->xipos, 3 * model.nbody));
      break;
    case RewardedProgress::kReach:
    case RewardedProgress::kPush:
      visit(span(data_->xpos, 3 * model.nbody));
      break;
    default:
      visit(span(data_->xpos + 3 * kTorso, 3));
      break;
  }
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

std::shared_ptr<const EnvFactory> MakeMujocoFactory(const MujocoTask& task,
                                                    const std::string& name) {
  return std::make_shared<const MujocoFactory>(task, name);
}

}  // namespace lfiw::envs
