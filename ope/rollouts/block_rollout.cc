#include "ope/rollouts/block_rollout.h"

#include <algorithm>

#include "core/error.h"

namespace lfiw::ope {
namespace {

std::span<float> RowSpan(MatrixF& m, std::int64_t row) {
  return {m.data() + row * m.cols(), static_cast<std::size_t>(m.cols())};
}

// Clamps every value of a row to its column's range; returns how many changed.
std::int64_t ClampRow(Eigen::Ref<Eigen::RowVectorXf> row, const VectorF& low, const VectorF& high) {
  std::int64_t clamped = 0;
  for (Eigen::Index j = 0; j < row.cols(); ++j) {
    const float inside = std::min(std::max(row(j), low(j)), high(j));
    clamped += inside != row(j);
    row(j) = inside;
  }
  return clamped;
}

}  // namespace

BlockRollout::TrajectoryStreams::TrajectoryStreams(std::uint64_t seed, std::uint64_t trajectory)
    : action(seed, "model rollout action", {trajectory}),
      member(seed, "model rollout member", {trajectory}),
      outcome(seed, "model rollout outcome", {trajectory}),
      visited(seed, "model rollout visited", {trajectory}) {}

BlockRollout::BlockRollout(const RolloutInputs& inputs, ConstMatrixRef starts,
                           const BlockShape& shape, std::uint64_t seed)
    : in_(inputs),
      shape_(shape),
      states_((shape.steps + 1) * shape.size, inputs.spec.obs_dim),
      actions_(shape.steps * shape.size, inputs.spec.action_dim),
      next_states_(shape.steps * shape.size, inputs.spec.obs_dim),
      aux_(shape.steps * shape.size, inputs.spec.aux_dim()),
      rewards_(static_cast<std::size_t>(shape.steps * shape.size)),
      lengths_(static_cast<std::size_t>(shape.size), shape.steps),
      terminated_(static_cast<std::size_t>(shape.size)),
      members_(static_cast<std::size_t>(shape.size)),
      steps_(static_cast<std::size_t>(shape.size)),
      action_noise_(shape.size, inputs.policy.noise_dim()),
      outcome_noise_(shape.size, inputs.dynamics.noise_dim()) {
  LFIW_ASSERT(starts.rows() == shape.size && starts.cols() == inputs.spec.obs_dim);
  streams_.reserve(static_cast<std::size_t>(shape.size));
  for (std::int64_t i = 0; i < shape.size; ++i) {
    streams_.emplace_back(seed, static_cast<std::uint64_t>(shape.first + i));
  }
  states_.topRows(shape.size) = starts;
}

void BlockRollout::Run() {
  for (std::int64_t k = 0; k < shape_.steps; ++k) {
    DrawNoise(k);
    Act(k);
    Predict(k);
    MarkTerminated(k);
  }
}

std::vector<double> BlockRollout::LogRatios(std::size_t c) const {
  std::vector<double> log_ratios(rewards_.size());
  in_.ratios[c]->LogRatios(states_.topRows(shape_.steps * shape_.size), actions_, next_states_,
                           aux_, log_ratios);
  return log_ratios;
}

std::int64_t BlockRollout::total_steps() const {
  std::int64_t total = 0;
  for (const std::int64_t length : lengths_) total += length;
  return total;
}

void BlockRollout::DrawNoise(std::int64_t k) {
  const auto count = static_cast<std::uint64_t>(in_.dynamics.members());
  for (std::int64_t i = 0; i < shape_.size; ++i) {
    TrajectoryStreams& streams = streams_[static_cast<std::size_t>(i)];
    streams.action.FillNormal(RowSpan(action_noise_, i));
    streams.outcome.FillNormal(RowSpan(outcome_noise_, i));
    members_[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(streams.member.Below(count));
  }
  std::fill(steps_.begin(), steps_.end(), shape_.first_step + k);
}

// Executed actions: drawn, then clipped to the bounds, as in the real environment.
void BlockRollout::Act(std::int64_t k) {
  auto actions = actions_.middleRows(k * shape_.size, shape_.size);
  try {
    in_.policy.Sample(states(k), steps_, action_noise_, actions);
  } catch (const PolicyError&) {
    // a policy need not be defined where an episode has ended
    SampleRunning(k, actions);
  }
  ClipActions(in_.spec, actions);
}

void BlockRollout::SampleRunning(std::int64_t k, MatrixRef actions) const {
  std::vector<Eigen::Index> running;
  for (std::int64_t i = 0; i < shape_.size; ++i) {
    if (k < length(i)) running.push_back(i);
  }
  actions.setZero();
  if (running.empty()) return;
  const std::vector<std::int64_t> steps(running.size(), steps_.front());
  const MatrixF observations = states(k)(running, Eigen::all);
  const MatrixF noise = action_noise_(running, Eigen::all);
  MatrixF drawn(std::ssize(running), actions.cols());
  in_.policy.Sample(observations, steps, noise, drawn);
  actions(running, Eigen::all) = drawn;
}

void BlockRollout::Predict(std::int64_t k) {
  const std::int64_t row = k * shape_.size;
  auto next = next_states_.middleRows(row, shape_.size);
  auto aux = aux_.middleRows(row, shape_.size);
  in_.dynamics.Sample(states(k), actions(k), members_, outcome_noise_, next, aux);
  RequireFinite(next, k);
  for (std::int64_t i = 0; i < shape_.size; ++i) {
    const std::int64_t clamped = ClampRow(next.row(i), in_.range.state_low, in_.range.state_high) +
                                 ClampRow(aux.row(i), in_.range.aux_low, in_.range.aux_high);
    if (k < length(i)) clamped_ += clamped;
  }
  in_.functions.Rewards(states(k), actions(k), next, aux,
                        std::span(rewards_).subspan(static_cast<std::size_t>(row),
                                                    static_cast<std::size_t>(shape_.size)));
  states_.middleRows(row + shape_.size, shape_.size) = next;
}

void BlockRollout::RequireFinite(ConstMatrixRef next, std::int64_t k) const {
  for (std::int64_t i = 0; i < shape_.size; ++i) {
    if (!next.row(i).allFinite()) {
      Throw<NumericError>(
          "model rollout: trajectory {}, step {}: the dynamics model predicts a value that is "
          "not finite; retrain it with a smaller learning rate or more data",
          shape_.first + i, shape_.first_step + k);
    }
  }
}

void BlockRollout::MarkTerminated(std::int64_t k) {
  in_.functions.Terminated(states(k), actions(k),
                           next_states_.middleRows(k * shape_.size, shape_.size), terminated_);
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    if (terminated_[i] != 0) lengths_[i] = std::min(lengths_[i], k + 1);
  }
}

}  // namespace lfiw::ope
