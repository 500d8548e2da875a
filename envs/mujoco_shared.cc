#include "envs/mujoco_shared.h"

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace lfiw::envs {
namespace {

// Velocities of the free joint, which no actuator moves.
constexpr std::int64_t kFreeVelocities = 6;
// Joints of Pusher's arm.
constexpr std::int64_t kArmJoints = 7;

std::string TextOf(const MujocoTask& task) {
  std::string text = task.mjcf;
  for (const ModelEdit& edit : task.edits) {
    if (edit.from.empty()) continue;
    const std::size_t at = text.find(edit.from);
    LFIW_ASSERT(at != std::string::npos);
    text.replace(at, edit.from.size(), edit.to);
  }
  return text;
}

std::int64_t ContactNumbers(const MujocoTask& task, const mjModel& model) {
  if (!task.derived.contact_forces) return 0;
  return 6 * (model.nbody - (task.derived.constants ? 0 : 1));
}

// Derived quantities that are observed beside positions and velocities.
std::int64_t DerivedDim(const MujocoTask& task, const mjModel& model) {
  const DerivedQuantities& derived = task.derived;
  const std::int64_t bodies = model.nbody - (derived.constants ? 0 : 1);
  std::int64_t size = ContactNumbers(task, model);
  if (derived.inertia) size += 10 * bodies;
  if (derived.velocity) size += 6 * bodies;
  if (derived.actuator_forces) size += model.nv - (derived.constants ? 0 : kFreeVelocities);
  return size;
}

std::int64_t ObservationDim(const MujocoTask& task, const mjModel& model) {
  // what is always 0: the height between fingertip and target, forces on the double pendulum's
  // poles
  const bool constants = task.derived.constants;
  switch (task.observation) {
    case Observation::kReacher:
      return 2 + 2 + 2 + 2 + (constants ? 3 : 2);
    case Observation::kPusher:
      return 2 * kArmJoints + 3 * 3;
    case Observation::kDoublePendulum:
      return 1 + 2 + 2 + model.nv + (constants ? model.nv : 1);
    case Observation::kState:
      break;
  }
  return model.nq - task.skipped_positions() + model.nv + DerivedDim(task, model);
}

AuxKind AuxOf(const MujocoTask& task) {
  const bool unseen_contacts = task.CostsContacts() && !task.derived.contact_forces;
  switch (task.progress) {
    case RewardedProgress::kRootPosition:
    case RewardedProgress::kTorsoPosition:
    case RewardedProgress::kMassCenter:
      return unseen_contacts ? AuxKind::kRewardTerm : AuxKind::kVelocity;
    case RewardedProgress::kBalance:
      return AuxKind::kRewardTerm;
    case RewardedProgress::kNone:
    case RewardedProgress::kHeight:
    case RewardedProgress::kReach:
    case RewardedProgress::kPush:
      break;
  }
  return unseen_contacts ? AuxKind::kRewardTerm : AuxKind::kNone;
}

std::vector<std::string> AuxNames(const MujocoTask& task) {
  switch (AuxOf(task)) {
    case AuxKind::kNone:
      return {};
    case AuxKind::kVelocity:
      return {task.progress == RewardedProgress::kMassCenter ? "mass_center_x_velocity"
                                                             : kForwardVelocity};
    case AuxKind::kRewardTerm:
      break;
  }
  return {"unobserved_reward"};
}

EnvSpec MakeSpec(const MujocoTask& task, const mjModel& model, const std::string& name) {
  EnvSpec spec;
  spec.name = name;
  spec.obs_dim = ObservationDim(task, model);
  spec.aux_names = AuxNames(task);
  spec.action_dim = model.nu;
  spec.action_low.resize(model.nu);
  spec.action_high.resize(model.nu);
  for (int i = 0; i < model.nu; ++i) {
    spec.action_low(i) = model.actuator_ctrlrange[2 * i];
    spec.action_high(i) = model.actuator_ctrlrange[2 * i + 1];
  }
  spec.max_episode_steps = task.max_episode_steps;
  spec.step_seconds = task.frame_skip * model.opt.timestep;
  return spec;
}

std::array<int, 3> BodiesOf(const MujocoTask& task, const mjModel& model) {
  const auto body = [&](const char* name) { return mj_name2id(&model, mjOBJ_BODY, name); };
  if (task.progress == RewardedProgress::kReach) return {body("fingertip"), body("target"), 0};
  if (task.progress == RewardedProgress::kPush) {
    return {body("tips_arm"), body("object"), body("goal")};
  }
  return {};
}

}  // namespace

std::int64_t MujocoShared::contact_numbers() const { return ContactNumbers(task, *model); }

std::shared_ptr<const MujocoShared> LoadMujocoTask(const MujocoTask& task,
                                                   const std::string& name) {
  auto model = CompileMjcf(name, TextOf(task));
  EnvSpec spec = MakeSpec(task, *model, name);
  const std::array<int, 3> bodies = BodiesOf(task, *model);
  return std::make_shared<const MujocoShared>(MujocoShared{.task = task,
                                                           .model = std::move(model),
                                                           .spec = std::move(spec),
                                                           .aux = AuxOf(task),
                                                           .bodies = bodies});
}

std::shared_ptr<const MujocoShared> LoadMujocoTask(const MujocoTask& task) {
  return LoadMujocoTask(task, FullName(task));
}

}  // namespace lfiw::envs
