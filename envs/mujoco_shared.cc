#include "envs/mujoco_shared.h"

#include <string>
#include <utility>

namespace lfiw::envs {
namespace {

// Derived quantities that HumanoidStandup observes beside positions and velocities.
std::int64_t DerivedDim(const mjModel& model) {
  return (10 + 6 + 6) * model.nbody + model.nv;  // cinert, cvel, cfrc_ext; qfrc_actuator
}

EnvSpec MakeSpec(const MujocoTask& task, const mjModel& model) {
  EnvSpec spec;
  spec.name = task.name;
  spec.obs_dim = model.nq - task.hidden_positions + model.nv;
  if (task.progress == RewardedProgress::kHeight) {
    spec.obs_dim += DerivedDim(model);
  } else {
    spec.aux_names = {"x_velocity"};
  }
  spec.action_dim = model.nu;
  spec.action_low.resize(model.nu);
  spec.action_high.resize(model.nu);
  for (int i = 0; i < model.nu; ++i) {
    spec.action_low(i) = model.actuator_ctrlrange[2 * i];
    spec.action_high(i) = model.actuator_ctrlrange[2 * i + 1];
  }
  spec.step_seconds = task.frame_skip * model.opt.timestep;
  return spec;
}

}  // namespace

std::shared_ptr<const MujocoShared> LoadMujocoTask(const MujocoTask& task) {
  auto model = CompileMjcf(std::string(task.name), task.mjcf);
  EnvSpec spec = MakeSpec(task, *model);
  return std::make_shared<const MujocoShared>(
      MujocoShared{.task = task, .model = std::move(model), .spec = std::move(spec)});
}

}  // namespace lfiw::envs
