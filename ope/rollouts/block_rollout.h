#ifndef LFIW_OPE_ROLLOUTS_BLOCK_ROLLOUT_H_
#define LFIW_OPE_ROLLOUTS_BLOCK_ROLLOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "ope/rollouts/rollout_inputs.h"

namespace lfiw::ope {

// Trajectories of one task: few enough for several tasks, enough rows for efficient GEMMs.
inline constexpr std::int64_t kRolloutBlock = 125;

// Which trajectories are rolled out together, and for how long.
struct BlockShape {
  std::int64_t first = 0;       // names their random streams: first .. first + size - 1
  std::int64_t size = 0;        // trajectories
  std::int64_t first_step = 0;  // step within the episode at which they start
  std::int64_t steps = 0;       // rolled out
};

// A block of trajectories in lockstep, on the calling thread: the part of RollOutInModel that every
// rollout shares, with all that it visits at hand. Each trajectory has its own random streams.
class BlockRollout {
 public:
  // starts [size, obs_dim], copied. `inputs` outlives the block; its start_states are not read.
  BlockRollout(const RolloutInputs& inputs, ConstMatrixRef starts, const BlockShape& shape,
               std::uint64_t seed);

  // Throws NumericError that names trajectory and step when a prediction is not finite.
  void Run();

  // k in 0 .. steps, counted from the start; rows [size, .] in the order of the trajectories.
  auto states(std::int64_t k) const { return states_.middleRows(k * shape_.size, shape_.size); }
  auto actions(std::int64_t k) const { return actions_.middleRows(k * shape_.size, shape_.size); }
  // 0 after the end of the episode.
  double reward(std::int64_t i, std::int64_t k) const {
    return k < length(i) ? rewards_[static_cast<std::size_t>(k * shape_.size + i)] : 0.0;
  }
  // Steps of trajectory i until its episode ended, at most `steps`.
  std::int64_t length(std::int64_t i) const { return lengths_[static_cast<std::size_t>(i)]; }

  // Log-ratios under classifier c, row k * size + i for step k of trajectory i: [steps * size].
  std::vector<double> LogRatios(std::size_t c) const;
  // The stream that chooses which steps of trajectory i are kept.
  Stream VisitedStream(std::int64_t i) const {
    return streams_[static_cast<std::size_t>(i)].visited;
  }

  // Predicted values that were clamped, and steps before the ends of episodes.
  std::int64_t clamped() const { return clamped_; }
  std::int64_t total_steps() const;

 private:
  struct TrajectoryStreams {
    TrajectoryStreams(std::uint64_t seed, std::uint64_t trajectory);
    Stream action, member, outcome, visited;
  };

  void DrawNoise(std::int64_t k);
  void Act(std::int64_t k);
  // Draws the actions of the trajectories that have not ended; the others get zeros.
  void SampleRunning(std::int64_t k, MatrixRef actions) const;
  void Predict(std::int64_t k);
  void RequireFinite(ConstMatrixRef next, std::int64_t k) const;
  void MarkTerminated(std::int64_t k);

  const RolloutInputs& in_;
  BlockShape shape_;
  // row k * size + i is step k of trajectory i
  MatrixF states_, actions_, next_states_, aux_;
  std::vector<double> rewards_;
  std::vector<std::int64_t> lengths_;
  std::vector<std::uint8_t> terminated_;
  std::vector<std::int64_t> members_;
  std::vector<std::int64_t> steps_;
  MatrixF action_noise_, outcome_noise_;
  std::vector<TrajectoryStreams> streams_;
  std::int64_t clamped_ = 0;
};

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_BLOCK_ROLLOUT_H_
