#include "ope/model_rollout.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/npz.h"
#include "core/parallel.h"
#include "core/rng.h"

namespace lfiw {
namespace {

// Trajectories of one task: few enough for several tasks, enough rows for efficient GEMMs.
constexpr std::int64_t kBlock = 125;

// The random streams of one trajectory.
struct TrajectoryStreams {
  TrajectoryStreams(std::uint64_t seed, std::uint64_t trajectory)
      : action(seed, "model rollout action", {trajectory}),
        member(seed, "model rollout member", {trajectory}),
        outcome(seed, "model rollout outcome", {trajectory}),
        visited(seed, "model rollout visited", {trajectory}) {}
  Stream action, member, outcome, visited;
};

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

// A block of trajectories in lockstep. Row t * size + i of the buffers is step t of trajectory
// first + i.
class BlockRollout {
 public:
  BlockRollout(const RolloutInputs& inputs, std::int64_t first, std::int64_t size,
               std::int64_t horizon, std::uint64_t seed)
      : in_(inputs),
        first_(first),
        size_(size),
        horizon_(horizon),
        states_((horizon + 1) * size, inputs.spec.obs_dim),
        actions_(horizon * size, inputs.spec.action_dim),
        next_states_(horizon * size, inputs.spec.obs_dim),
        aux_(horizon * size, inputs.spec.aux_dim()),
        rewards_(static_cast<std::size_t>(horizon * size)),
        lengths_(static_cast<std::size_t>(size), horizon),
        terminated_(static_cast<std::size_t>(size)),
        members_(static_cast<std::size_t>(size)),
        steps_(static_cast<std::size_t>(size)),
        action_noise_(size, inputs.policy.noise_dim()),
        outcome_noise_(size, inputs.dynamics.noise_dim()) {
    streams_.reserve(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) {
      streams_.emplace_back(seed, static_cast<std::uint64_t>(first + i));
    }
    states_.topRows(size) = inputs.start_states.middleRows(first, size);
  }

  void Run() {
    for (std::int64_t t = 0; t < horizon_; ++t) {
      DrawNoise(t);
      Act(t);
      Predict(t);
      MarkTerminated(t);
    }
  }

  // Writes the block's rewards [n, T] rows and log-weights into the result.
  void Store(std::int64_t episodes, ModelRollouts& out) const {
    StoreSteps(rewards_, [&](std::int64_t trajectory) {
      return out.rewards.Row(trajectory / episodes, trajectory % episodes);
    });
    std::vector<double> log_ratios(rewards_.size());
    for (std::size_t c = 0; c < in_.ratios.size(); ++c) {
      in_.ratios[c]->LogRatios(states_.topRows(horizon_ * size_), actions_, next_states_, aux_,
                               log_ratios);
      StoreSteps(log_ratios, [&](std::int64_t trajectory) {
        return out.log_weights.Row(trajectory / episodes, c, trajectory % episodes);
      });
    }
  }

  // Keeps `count` random steps of each trajectory.
  void StoreVisited(std::int64_t count, ModelRollouts& out) const {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < size_; ++i) {
      Stream stream = streams_[static_cast<std::size_t>(i)].visited;
      const auto length = static_cast<std::uint64_t>(lengths_[static_cast<std::size_t>(i)]);
      for (std::int64_t& t : steps) t = static_cast<std::int64_t>(stream.Below(length));
      std::ranges::sort(steps);
      std::int64_t row = (first_ + i) * count;
      for (const std::int64_t t : steps) {
        out.visited_states.row(row) = states_.row(t * size_ + i);
        out.visited_actions.row(row) = actions_.row(t * size_ + i);
        out.visited_steps[static_cast<std::size_t>(row++)] = t;
      }
    }
  }

  std::int64_t clamped() const { return clamped_; }
  std::int64_t steps() const {
    std::int64_t total = 0;
    for (const std::int64_t length : lengths_) total += length;
    return total;
  }

 private:
  void DrawNoise(std::int64_t t) {
    const auto count = static_cast<std::uint64_t>(in_.dynamics.members());
    for (std::int64_t i = 0; i < size_; ++i) {
      TrajectoryStreams& streams = streams_[static_cast<std::size_t>(i)];
      streams.action.FillNormal(RowSpan(action_noise_, i));
      streams.outcome.FillNormal(RowSpan(outcome_noise_, i));
      members_[static_cast<std::size_t>(i)] =
          static_cast<std::int64_t>(streams.member.Below(count));
    }
    std::fill(steps_.begin(), steps_.end(), t);
  }

  // Executed actions: drawn, then clipped to the bounds, as in the real environment.
  void Act(std::int64_t t) {
    auto actions = actions_.middleRows(t * size_, size_);
    in_.policy.Sample(states_.middleRows(t * size_, size_), steps_, action_noise_, actions);
    const VectorF low = in_.spec.action_low.cast<float>();
    const VectorF high = in_.spec.action_high.cast<float>();
    actions = actions.cwiseMax(low.transpose().replicate(size_, 1))
                  .cwiseMin(high.transpose().replicate(size_, 1));
  }

  void Predict(std::int64_t t) {
    const std::int64_t row = t * size_;
    const auto states = states_.middleRows(row, size_);
    auto next = next_states_.middleRows(row, size_);
    auto aux = aux_.middleRows(row, size_);
    in_.dynamics.Sample(states, actions_.middleRows(row, size_), members_, outcome_noise_, next,
                        aux);
    RequireFinite(next, t);
    for (std::int64_t i = 0; i < size_; ++i) {
      const std::int64_t clamped =
          ClampRow(next.row(i), in_.range.state_low, in_.range.state_high) +
          ClampRow(aux.row(i), in_.range.aux_low, in_.range.aux_high);
      if (t < lengths_[static_cast<std::size_t>(i)]) clamped_ += clamped;
    }
    in_.functions.Rewards(states, actions_.middleRows(row, size_), next, aux,
                          std::span(rewards_).subspan(static_cast<std::size_t>(row),
                                                      static_cast<std::size_t>(size_)));
    states_.middleRows(row + size_, size_) = next;
  }

  void RequireFinite(ConstMatrixRef next, std::int64_t t) const {
    for (std::int64_t i = 0; i < size_; ++i) {
      if (!next.row(i).allFinite()) {
        Throw<NumericError>(
            "model rollout: trajectory {}, step {}: the dynamics model predicts a value that is "
            "not finite; retrain it with a smaller learning rate or more data",
            first_ + i, t);
      }
    }
  }

  void MarkTerminated(std::int64_t t) {
    const std::int64_t row = t * size_;
    in_.functions.Terminated(states_.middleRows(row, size_), actions_.middleRows(row, size_),
                             next_states_.middleRows(row, size_), terminated_);
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (terminated_[i] != 0) lengths_[i] = std::min(lengths_[i], t + 1);
    }
  }

  // Copies per-step values of each trajectory up to its end; what follows stays 0.
  template <class RowOf>
  void StoreSteps(const std::vector<double>& values, const RowOf& row_of) const {
    for (std::int64_t i = 0; i < size_; ++i) {
      const std::span<double> row = row_of(first_ + i);
      for (std::int64_t t = 0; t < lengths_[static_cast<std::size_t>(i)]; ++t) {
        row[static_cast<std::size_t>(t)] = values[static_cast<std::size_t>(t * size_ + i)];
      }
    }
  }

  const RolloutInputs& in_;
  std::int64_t first_, size_, horizon_;
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

// Widened column range of `values`.
void ColumnRange(const MatrixF& values, double margin, VectorF& low, VectorF& high) {
  low = values.colwise().minCoeff().transpose();
  high = values.colwise().maxCoeff().transpose();
  const VectorF slack = static_cast<float>(margin) * (high - low);
  low -= slack;
  high += slack;
}

}  // namespace

ClampRange RangeOfLog(const EpisodeBatch& log, double margin) {
  ClampRange range;
  ColumnRange(log.observations, margin, range.state_low, range.state_high);
  if (log.aux_dim() > 0) ColumnRange(log.aux, margin, range.aux_low, range.aux_high);
  return range;
}

double ModelRollouts::ClampRate() const {
  return predicted_values == 0
             ? 0.0
             : static_cast<double>(clamped_values) / static_cast<double>(predicted_values);
}

void ModelRollouts::Save(const std::string& path) const {
  NpzFile file;
  const auto& r = rewards.shape();
  const auto& w = log_weights.shape();
  file.Put("reward_shape", std::vector<std::int64_t>(r.begin(), r.end()));
  file.Put("rewards", std::vector<double>(rewards.flat().begin(), rewards.flat().end()));
  file.Put("weight_shape", std::vector<std::int64_t>(w.begin(), w.end()));
  file.Put("log_weights",
           std::vector<double>(log_weights.flat().begin(), log_weights.flat().end()));
  file.Put("clamps", std::vector<std::int64_t>{clamped_values, predicted_values});
  file.Put("visited_states", visited_states);
  file.Put("visited_actions", visited_actions);
  file.Put("visited_steps", visited_steps);
  file.Write(path);
}

ModelRollouts ModelRollouts::Load(const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  ModelRollouts out;
  const auto fill = [&](const char* shape_name, const char* name, auto& array) {
    using ArrayType = std::remove_reference_t<decltype(array)>;
    const std::vector<std::int64_t> dims = file.GetIntegers(shape_name);
    const std::vector<double> values = file.GetDoubles(name);
    typename ArrayType::Shape shape{};
    if (dims.size() != shape.size()) Throw<DataError>("{}: {} has a wrong rank", path, shape_name);
    std::copy(dims.begin(), dims.end(), shape.begin());
    array = ArrayType(shape);
    if (array.size() != static_cast<std::int64_t>(values.size())) {
      Throw<DataError>("{}: {} has {} values, expected {}", path, name, values.size(),
                       array.size());
    }
    std::copy(values.begin(), values.end(), array.flat().begin());
  };
  fill("reward_shape", "rewards", out.rewards);
  fill("weight_shape", "log_weights", out.log_weights);
  const std::vector<std::int64_t> clamps = file.GetIntegers("clamps");
  if (clamps.size() != 2) Throw<DataError>("{}: clamps has {} values, not 2", path, clamps.size());
  out.clamped_values = clamps[0];
  out.predicted_values = clamps[1];
  out.visited_states = file.GetMatrix("visited_states");
  out.visited_actions = file.GetMatrix("visited_actions");
  out.visited_steps = file.GetIntegers("visited_steps");
  const std::int64_t visited = std::ssize(out.visited_steps);
  if (out.visited_states.rows() != visited || out.visited_actions.rows() != visited) {
    Throw<DataError>("{}: {} visited_states and {} visited_actions, expected {} of each", path,
                     out.visited_states.rows(), out.visited_actions.rows(), visited);
  }
  return out;
}

MatrixF StartStatesFromLog(const EpisodeBatch& log, std::int64_t count, std::uint64_t seed) {
  Stream stream(seed, "model rollout start");
  const std::vector<std::int64_t> order = stream.Permutation(log.episodes());
  MatrixF starts(count, log.obs_dim());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t episode = order[static_cast<std::size_t>(i % log.episodes())];
    starts.row(i) = log.observations.row(log.ObservationRow(episode, 0));
  }
  return starts;
}

MatrixF StartStatesFromEnv(const EnvFactory& env, std::int64_t count, std::uint64_t seed) {
  const std::unique_ptr<Env> instance = env.Make();
  std::vector<double> observation(static_cast<std::size_t>(env.spec().obs_dim));
  MatrixF starts(count, env.spec().obs_dim);
  for (std::int64_t i = 0; i < count; ++i) {
    Stream stream(seed, "model rollout reset", {static_cast<std::uint64_t>(i)});
    instance->Reset(stream, observation);
    starts.row(i) =
        Eigen::Map<const VectorD>(observation.data(), starts.cols()).cast<float>().transpose();
  }
  return starts;
}

ModelRollouts RollOutInModel(const RolloutInputs& inputs, const RolloutOptions& options,
                             std::int64_t horizon, std::uint64_t seed, Progress* progress) {
  const std::int64_t total = options.repetitions * options.episodes;
  LFIW_ASSERT(inputs.start_states.rows() == total && horizon >= 1);
  const auto classifiers = static_cast<std::int64_t>(inputs.ratios.size());
  ModelRollouts out;
  out.rewards = Array<double, 3>({options.repetitions, options.episodes, horizon});
  out.log_weights = Array<double, 4>({options.repetitions, classifiers, options.episodes, horizon});
  const std::int64_t visited = total * options.visited_per_episode;
  out.visited_states.resize(visited, inputs.spec.obs_dim);
  out.visited_actions.resize(visited, inputs.spec.action_dim);
  out.visited_steps.resize(static_cast<std::size_t>(visited));

  std::atomic<std::int64_t> clamped = 0, steps = 0;
  ParallelBlocks(total, kBlock, [&](std::int64_t begin, std::int64_t end) {
    if (InterruptRequested()) throw Interrupted();
    BlockRollout block(inputs, begin, end - begin, horizon, seed);
    block.Run();
    block.Store(options.episodes, out);
    block.StoreVisited(options.visited_per_episode, out);
    clamped += block.clamped();
    steps += block.steps();
    if (progress != nullptr) progress->Advance(end - begin);
  });
  out.clamped_values = clamped;
  out.predicted_values = steps * (inputs.spec.obs_dim + inputs.spec.aux_dim());
  return out;
}

}  // namespace lfiw
