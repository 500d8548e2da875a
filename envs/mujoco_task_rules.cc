#include "envs/mujoco_task_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "envs/mujoco_shared.h"

namespace lfiw::envs {
namespace {

// Lengths of the double pendulum's poles, and where its observation holds what.
constexpr double kPoleLength = 0.6;
constexpr int kPoleSines = 1;
constexpr int kPoleCosines = 3;
constexpr int kPoleVelocities = 6;

// Where the tip of the double pendulum is: x and height.
std::pair<double, double> Tip(const float* state) {
  const double angle1 = std::atan2(state[kPoleSines], state[kPoleCosines]);
  const double angle2 = angle1 + std::atan2(state[kPoleSines + 1], state[kPoleCosines + 1]);
  return {state[0] + kPoleLength * (std::sin(angle1) + std::sin(angle2)),
          kPoleLength * (std::cos(angle1) + std::cos(angle2))};
}

// Distance between the places [3] at `a` and `b` of an observation.
double DistanceIn(const float* state, int a, int b) {
  double squares = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double difference = static_cast<double>(state[a + i]) - state[b + i];
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

}  // namespace

MujocoTaskRules::MujocoTaskRules(std::shared_ptr<const MujocoShared> shared, RewardSource source)
    : shared_(std::move(shared)), source_(source) {}

std::int64_t MujocoTaskRules::aux_dim() const {
  return source_ == RewardSource::kDisplacement ? shared_->spec.aux_dim() : 0;
}

void MujocoTaskRules::Rewards(ConstMatrixRef states, ConstMatrixRef actions,
                              ConstMatrixRef next_states, ConstMatrixRef aux,
                              std::span<double> rewards) const {
  const MujocoTask& task = shared_->task;
  const bool has_aux = aux_dim() > 0;
  const bool always_bonus = task.bonus == 0.0 || task.EarnsBonus(false);
  for (Eigen::Index i = 0; i < actions.rows(); ++i) {
    const float* next = next_states.row(i).data();
    const double progress =
        Progress(states.row(i).data(), next, has_aux ? aux.row(i).data() : nullptr);
    const double bonus = always_bonus || IsHealthy(next) ? task.bonus : 0.0;
    rewards[static_cast<std::size_t>(i)] = progress + bonus - ControlCost(actions.row(i).data());
  }
}

void MujocoTaskRules::Terminated(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/,
                                 ConstMatrixRef next_states,
                                 std::span<std::uint8_t> terminated) const {
  for (Eigen::Index i = 0; i < next_states.rows(); ++i) {
    const bool ends = shared_->task.terminates && !IsHealthy(next_states.row(i).data());
    terminated[static_cast<std::size_t>(i)] = ends ? 1 : 0;
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

double MujocoTaskRules::ObservedVelocity(const float* state, const float* next_state) const {
  const std::int64_t velocity = shared_->positions();  // the root's, along x
  if (source_ == RewardSource::kEndVelocity) return next_state[velocity];
  return 0.5 * (static_cast<double>(state[velocity]) + next_state[velocity]);
}

double MujocoTaskRules::Progress(const float* state, const float* next_state,
                                 const float* aux) const {
  const MujocoTask& task = shared_->task;
  const float* measured = task.rewards_start ? state : next_state;
  switch (task.progress) {
    case RewardedProgress::kNone:
      return 0.0;
    case RewardedProgress::kHeight: {
      const double height = next_state[task.hidden_positions - task.skipped_positions()];
      const double reward = task.progress_weight * height / shared_->model->opt.timestep;
      return (aux == nullptr ? reward : reward + aux[0]) - ObservedContacts(next_state);
    }
    case RewardedProgress::kReach: {
      const float* difference = measured + 8;
      const double z = task.derived.constants ? difference[2] : 0.0;
      return -task.progress_weight * std::hypot(difference[0], difference[1], z);
    }
    case RewardedProgress::kPush: {
      constexpr int kTip = 14, kObject = 17, kGoal = 20;
      return -task.progress_weight * DistanceIn(measured, kObject, kGoal) -
             task.near_weight * DistanceIn(measured, kObject, kTip);
    }
    case RewardedProgress::kBalance: {
      if (aux != nullptr) return aux[0];
      const auto [x, z] = Tip(next_state);
      return -BalancePenalty(x, z, next_state[kPoleVelocities], next_state[kPoleVelocities + 1]);
    }
    case RewardedProgress::kRootPosition:
    case RewardedProgress::kTorsoPosition:
    case RewardedProgress::kMassCenter:
      break;
  }
  if (aux != nullptr && shared_->aux == AuxKind::kRewardTerm) return aux[0];
  const double velocity = aux != nullptr ? aux[0] : ObservedVelocity(state, next_state);
  return task.progress_weight * velocity - ObservedContacts(next_state);
}

double MujocoTaskRules::ObservedContacts(const float* next_state) const {
  const std::int64_t count = shared_->contact_numbers();
  if (count == 0 || !shared_->task.CostsContacts()) return 0.0;
  const float* end = next_state + shared_->spec.obs_dim;
  return shared_->task.contact(std::vector<double>(end - count, end));
}

bool MujocoTaskRules::IsHealthy(const float* state) const {
  const MujocoTask& task = shared_->task;
  if (!task.healthy.any()) return true;
  if (task.healthy.tip_above_one) return Tip(state).second > 1.0;
  const std::int64_t hidden = task.hidden_positions - task.skipped_positions();
  const std::int64_t positions = shared_->positions();
  const std::vector<double> values(state + hidden, state + positions + shared_->model->nv);
  const auto count = static_cast<std::size_t>(positions - hidden);
  const std::span<const double> all(values);
  return task.healthy(all.first(count), all.subspan(count));
}

}  // namespace lfiw::envs
