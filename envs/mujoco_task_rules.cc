#include "envs/mujoco_task_rules.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "envs/mujoco_shared.h"

namespace lfiw::envs {

MujocoTaskRules::MujocoTaskRules(std::shared_ptr<const MujocoShared> shared, RewardSource source)
    : shared_(std::move(shared)), source_(source) {}

std::int64_t MujocoTaskRules::aux_dim() const {
  return source_ == RewardSource::kDisplacement ? shared_->spec.aux_dim() : 0;
}

void MujocoTaskRules::Rewards(ConstMatrixRef states, ConstMatrixRef actions,
                              ConstMatrixRef next_states, ConstMatrixRef aux,
                              std::span<double> rewards) const {
  const MujocoTask& task = shared_->task;
  const Eigen::Index velocity = shared_->positions();  // the root's, along x
  const auto progress = [&](Eigen::Index i) -> double {
    if (task.progress == RewardedProgress::kHeight)
      return StandingReward(next_states.row(i).data());
    switch (source_) {
      case RewardSource::kDisplacement:
        return aux(i, 0);
      case RewardSource::kTrapezoid:
        return 0.5 * (static_cast<double>(states(i, velocity)) + next_states(i, velocity));
      case RewardSource::kEndVelocity:
        break;
    }
    return next_states(i, velocity);
  };
  for (Eigen::Index i = 0; i < actions.rows(); ++i) {
    rewards[static_cast<std::size_t>(i)] =
        progress(i) + task.bonus - ControlCost(actions.row(i).data());
  }
}

void MujocoTaskRules::Terminated(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/,
                                 ConstMatrixRef next_states,
                                 std::span<std::uint8_t> terminated) const {
  const MujocoTask& task = shared_->task;
  if (task.healthy == nullptr) {
    std::ranges::fill(terminated, std::uint8_t{0});
    return;
  }
  std::vector<double> state(static_cast<std::size_t>(next_states.cols()));
  const auto [positions, velocities] = std::pair(
      std::span<const double>(state).first(static_cast<std::size_t>(shared_->positions())),
      std::span<const double>(state).subspan(static_cast<std::size_t>(shared_->positions())));
  for (Eigen::Index i = 0; i < next_states.rows(); ++i) {
    std::copy_n(next_states.row(i).data(), next_states.cols(), state.begin());
    terminated[static_cast<std::size_t>(i)] = task.healthy(positions, velocities) ? 0 : 1;
  }
}

double MujocoTaskRules::ControlCost(const float* action) const {
  const EnvSpec& spec = shared_->spec;
  double squares = 0.0;
  for (Eigen::Index i = 0; i < spec.action_dim; ++i) {
    const double clipped =
        std::clamp(static_cast<double>(action[i]), spec.action_low(i), spec.action_high(i));
    squares += clipped * clipped;
  }
  return shared_->task.control_cost * squares;
}

double MujocoTaskRules::StandingReward(const float* next_state) const {
  const mjModel& model = *shared_->model;
  const float* end = next_state + shared_->spec.obs_dim;
  const std::vector<double> external_forces(end - 6 * model.nbody, end);
  return next_state[0] / model.opt.timestep - ImpactCost(external_forces);
}

}  // namespace lfiw::envs
