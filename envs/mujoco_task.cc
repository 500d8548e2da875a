#include "envs/mujoco_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "envs/mjcf.h"

namespace lfiw::envs {
namespace {

using TaskValues = std::span<const double>;

// Cost of contacts in Ant and in the two humanoids, of Gymnasium's documentation.
constexpr ContactCost kAntContacts = {.weight = 5e-4, .force = {-1.0, 1.0}, .cost = {}};
constexpr double kMostImpact = 10.0;
constexpr ContactCost kImpacts = {
    .weight = 5e-7, .force = {}, .cost = {Interval{}.low, kMostImpact}};

bool Inside(double x, const Interval& range, bool closed) {
  return closed ? range.low <= x && x <= range.high : range.low < x && x < range.high;
}

constexpr DerivedQuantities kAllDerived = {
    .inertia = true, .velocity = true, .actuator_forces = true, .contact_forces = true};

// Tasks of version 4, which versions before it computed as well but for Ant's.
std::vector<MujocoTask> FirstSix() {
  return {
      {.name = "Swimmer",
       .last_version = 5,
       .mjcf = kSwimmerMjcf,
       .frame_skip = 4,
       .hidden_positions = 2,
       .reset_noise = 0.1,
       .progress = RewardedProgress::kRootPosition,
       .control_cost = 1e-4},
      {.name = "HalfCheetah",
       .last_version = 5,
       .mjcf = kHalfCheetahMjcf,
       .frame_skip = 5,
       .hidden_positions = 1,
       .reset_noise = 0.1,
       .velocity_noise = VelocityNoise::kNormal,
       .progress = RewardedProgress::kRootPosition,
       .control_cost = 0.1},
      {.name = "HumanoidStandup",
       .mjcf = kHumanoidStandupMjcf,
       .frame_skip = 5,
       .hidden_positions = 2,
       .derived = kAllDerived,
       .reset_noise = 0.01,
       .progress = RewardedProgress::kHeight,
       .bonus = 1.0,
       .control_cost = 0.1,
       .contact = kImpacts},
      {.name = "Hopper",
       .mjcf = kHopperMjcf,
       .frame_skip = 4,
       .hidden_positions = 1,
       .velocity_limit = 10.0,
       .reset_noise = 0.005,
       .progress = RewardedProgress::kRootPosition,
       .bonus = 1.0,
       .control_cost = 1e-3,
       .healthy = {.height = {.low = 0.7}, .angle = {-0.2, 0.2}, .state = {-100.0, 100.0}}},
      {.name = "Walker2d",
       .mjcf = kWalker2dMjcf,
       .frame_skip = 4,
       .hidden_positions = 1,
       .velocity_limit = 10.0,
       .reset_noise = 0.005,
       .progress = RewardedProgress::kRootPosition,
       .bonus = 1.0,
       .control_cost = 1e-3,
       .healthy = {.height = {0.8, 2.0}, .angle = {-1.0, 1.0}}},
      {.name = "Ant",
       .first_version = 4,
       .mjcf = kAntMjcf,
       .frame_skip = 5,
       .hidden_positions = 2,
       .reset_noise = 0.1,
       .velocity_noise = VelocityNoise::kNormal,
       .progress = RewardedProgress::kTorsoPosition,
       .bonus = 1.0,
       .control_cost = 0.5,
       .contact = kAntContacts,
       .unseen_contacts_cost = false,
       .healthy = {.height = {0.2, 1.0}, .finite = true}},
  };
}

std::vector<MujocoTask> OtherFive() {
  return {
      {.name = "Humanoid",
       .mjcf = kHumanoidMjcf,
       .frame_skip = 5,
       .hidden_positions = 2,
       .derived = kAllDerived,
       .reset_noise = 0.01,
       .progress = RewardedProgress::kMassCenter,
       .progress_weight = 1.25,
       .bonus = 5.0,
       .control_cost = 0.1,
       .contact = {.weight = 0.0, .cost = kImpacts.cost},
       .healthy = {.height = {1.0, 2.0}}},
      {.name = "Reacher",
       .mjcf = kReacherMjcf,
       .frame_skip = 2,
       .max_episode_steps = 50,
       .observation = Observation::kReacher,
       .reset = Reset::kReacher,
       .progress = RewardedProgress::kReach,
       .rewards_start = true,
       .control_cost = 1.0},
      {.name = "Pusher",
       .mjcf = kPusherMjcf,
       .frame_skip = 5,
       .max_episode_steps = 100,
       .observation = Observation::kPusher,
       .reset = Reset::kPusher,
       .progress = RewardedProgress::kPush,
       .near_weight = 0.5,
       .rewards_start = true,
       .control_cost = 0.1},
      {.name = "InvertedPendulum",
       .mjcf = kInvertedPendulumMjcf,
       .frame_skip = 2,
       .reset_noise = 0.01,
       .bonus = 1.0,
       .healthy = {.angle = {-0.2, 0.2}, .finite = true}},
      {.name = "InvertedDoublePendulum",
       .mjcf = kInvertedDoublePendulumMjcf,
       .frame_skip = 5,
       .observation = Observation::kDoublePendulum,
       .reset_noise = 0.1,
       .velocity_noise = VelocityNoise::kNormal,
       .progress = RewardedProgress::kBalance,
       .bonus = 10.0,
       .healthy = {.tip_above_one = true}},
  };
}

// Applies what version 5 of Gymnasium changed, in the order of its documentation.
void ChangeToVersion5(MujocoTask& task) {
  task.first_version = task.last_version = 5;
  task.bonus_at_end = false;
  task.rewards_start = false;
  task.derived.constants = false;
  if (task.name == "Ant") {
    task.derived.contact_forces = true;
    task.unseen_contacts_cost = true;
  }
  if (task.name == "Humanoid") task.contact = kImpacts;
  if (task.name == "Walker2d") {
    task.edits[0] = {R"(<geom name="foot_geom")",
                     R"(<geom name="foot_geom" friction="1.9 0.1 0.1")"};
    task.edited = "the right foot has a friction of 1.9 instead of 0.9";
  }
  if (task.name == "Pusher") {
    task.edits[0] = {R"(<geom class="puck" type="sphere" size="0.05 0.05 0.05"/>)", ""};
    task.edits[1] = {R"(size="0.05 0.05 0.05" contype="1")",
                     R"(size="0.05 0.05 0.05" contype="1" density="0.01")"};
    task.edited = "the object is 600 times as heavy";
  }
}

std::vector<MujocoTask> AllVersions() {
  std::vector<MujocoTask> tasks = FirstSix();
  std::ranges::copy(OtherFive(), std::back_inserter(tasks));
  const std::vector<MujocoTask> fourth = tasks;
  for (MujocoTask task : fourth) {
    if (task.last_version >= 5) continue;
    ChangeToVersion5(task);
    tasks.push_back(task);
  }
  MujocoTask ant = *std::ranges::find(fourth, "Ant", &MujocoTask::name);
  ant.first_version = 0;
  ant.last_version = 3;
  ant.derived.contact_forces = true;
  tasks.push_back(ant);
  return tasks;
}

}  // namespace

double ContactCost::operator()(std::span<const double> external_forces) const {
  double squares = 0.0;
  for (const double f : external_forces) {
    const double clipped = std::clamp(f, force.low, force.high);
    squares += clipped * clipped;
  }
  return std::clamp(weight * squares, cost.low, cost.high);
}

bool HealthyRange::operator()(std::span<const double> positions,
                              std::span<const double> velocities) const {
  const auto all = [&](TaskValues values, const auto& good) {
    return std::ranges::all_of(values, good);
  };
  if (positions.empty()) return true;
  if (finite) {
    const auto is_finite = [](double x) { return std::isfinite(x); };
    if (!all(positions, is_finite) || !all(velocities, is_finite)) return false;
  }
  if (height != Interval{} && !Inside(positions[0], height, finite)) return false;
  if (angle != Interval{} && !Inside(positions[1], angle, finite)) return false;
  if (state == Interval{}) return true;
  const auto bounded = [&](double x) { return Inside(x, state, false); };
  return all(positions.subspan(1), bounded) && all(velocities, bounded);
}

std::span<const MujocoTask> MujocoTasks() {
  static const std::vector<MujocoTask> tasks = AllVersions();
  return tasks;
}

std::string FullName(const MujocoTask& task) {
  const bool is_default =
      task.first_version <= kDefaultVersion && kDefaultVersion <= task.last_version;
  if (is_default) return std::string(task.name);
  // of versions 0 to 3, 2 is the one of public data
  return fmt::format("{}-v{}", task.name, task.first_version == 0 ? 2 : task.first_version);
}

double BalancePenalty(double tip_x, double tip_z, double velocity1, double velocity2) {
  return 0.01 * tip_x * tip_x + (tip_z - 2.0) * (tip_z - 2.0) + 1e-3 * velocity1 * velocity1 +
         5e-3 * velocity2 * velocity2;
}

}  // namespace lfiw::envs
