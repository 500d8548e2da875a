#include "envs/mujoco_task.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "envs/mjcf.h"

namespace lfiw::envs {
namespace {

using Values = std::span<const double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool HopperHealthy(Values positions, Values velocities) {
  const double height = positions[0];
  const double angle = positions[1];
  const auto bounded = [](double x) { return -100.0 < x && x < 100.0; };
  return height > 0.7 && -0.2 < angle && angle < 0.2 &&
         std::ranges::all_of(positions.subspan(1), bounded) &&
         std::ranges::all_of(velocities, bounded);
}

bool Walker2dHealthy(Values positions, Values /*velocities*/) {
  const double height = positions[0];
  const double angle = positions[1];
  return 0.8 < height && height < 2.0 && -1.0 < angle && angle < 1.0;
}

bool AntHealthy(Values positions, Values velocities) {
  const auto finite = [](double x) { return std::isfinite(x); };
  return 0.2 <= positions[0] && positions[0] <= 1.0 && std::ranges::all_of(positions, finite) &&
         std::ranges::all_of(velocities, finite);
}

}  // namespace

std::span<const MujocoTask> MujocoTasks() {
  static const std::array<MujocoTask, 6> tasks = {{
      {.name = "Swimmer",
       .mjcf = kSwimmerMjcf,
       .frame_skip = 4,
       .hidden_positions = 2,
       .velocity_limit = kInfinity,
       .reset_noise = 0.1,
       .velocity_noise = VelocityNoise::kUniform,
       .progress = RewardedProgress::kRootPosition,
       .bonus = 0.0,
       .control_cost = 1e-4,
       .healthy = nullptr},
      {.name = "HalfCheetah",
       .mjcf = kHalfCheetahMjcf,
       .frame_skip = 5,
       .hidden_positions = 1,
       .velocity_limit = kInfinity,
       .reset_noise = 0.1,
       .velocity_noise = VelocityNoise::kNormal,
       .progress = RewardedProgress::kRootPosition,
       .bonus = 0.0,
       .control_cost = 0.1,
       .healthy = nullptr},
      {.name = "HumanoidStandup",
       .mjcf = kHumanoidStandupMjcf,
       .frame_skip = 5,
       .hidden_positions = 2,
       .velocity_limit = kInfinity,
       .reset_noise = 0.01,
       .velocity_noise = VelocityNoise::kUniform,
       .progress = RewardedProgress::kHeight,
       .bonus = 1.0,
       .control_cost = 0.1,
       .healthy = nullptr},
      {.name = "Hopper",
       .mjcf = kHopperMjcf,
       .frame_skip = 4,
       .hidden_positions = 1,
       .velocity_limit = 10.0,
       .reset_noise = 0.005,
       .velocity_noise = VelocityNoise::kUniform,
       .progress = RewardedProgress::kRootPosition,
       .bonus = 1.0,
       .control_cost = 1e-3,
       .healthy = HopperHealthy},
      {.name = "Walker2d",
       .mjcf = kWalker2dMjcf,
       .frame_skip = 4,
       .hidden_positions = 1,
       .velocity_limit = 10.0,
       .reset_noise = 0.005,
       .velocity_noise = VelocityNoise::kUniform,
       .progress = RewardedProgress::kRootPosition,
       .bonus = 1.0,
       .control_cost = 1e-3,
       .healthy = Walker2dHealthy},
      {.name = "Ant",
       .mjcf = kAntMjcf,
       .frame_skip = 5,
       .hidden_positions = 2,
       .velocity_limit = kInfinity,
       .reset_noise = 0.1,
       .velocity_noise = VelocityNoise::kNormal,
       .progress = RewardedProgress::kTorsoPosition,
       .bonus = 1.0,
       .control_cost = 0.5,
       .healthy = AntHealthy},
  }};
  return tasks;
}

double ImpactCost(std::span<const double> external_forces) {
  const double squares = std::inner_product(external_forces.begin(), external_forces.end(),
                                            external_forces.begin(), 0.0);
  return std::min(5e-7 * squares, 10.0);
}

}  // namespace lfiw::envs
