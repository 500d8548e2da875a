#include "ope/rollouts/model_rollout.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "ope/rollouts/block_rollout.h"
#include "ope/rollouts/one_member.h"

namespace lfiw::ope {
namespace {

// Writes rewards and log-weights up to the end of each trajectory; what follows stays 0.
void StoreOutcomes(const BlockRollout& block, const BlockShape& shape, std::int64_t episodes,
                   std::size_t classifiers, ModelRollouts& out) {
  for (std::int64_t i = 0; i < shape.size; ++i) {
    const std::int64_t trajectory = shape.first + i;
    const std::span<double> row = out.rewards.Row(trajectory / episodes, trajectory % episodes);
    for (std::int64_t t = 0; t < block.length(i); ++t) {
      row[static_cast<std::size_t>(t)] = block.reward(i, t);
    }
  }
  for (std::size_t c = 0; c < classifiers; ++c) {
    const std::vector<double> log_ratios = block.LogRatios(c);
    for (std::int64_t i = 0; i < shape.size; ++i) {
      const std::int64_t trajectory = shape.first + i;
      const std::span<double> row =
          out.log_weights.Row(trajectory / episodes, c, trajectory % episodes);
      for (std::int64_t t = 0; t < block.length(i); ++t) {
        row[static_cast<std::size_t>(t)] = log_ratios[static_cast<std::size_t>(t * shape.size + i)];
      }
    }
  }
}

// Keeps `count` random steps of each trajectory.
void StoreVisited(const BlockRollout& block, const BlockShape& shape, std::int64_t count,
                  ModelRollouts& out) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < shape.size; ++i) {
    Stream stream = block.VisitedStream(i);
    const auto length = static_cast<std::uint64_t>(block.length(i));
    for (std::int64_t& t : steps) t = static_cast<std::int64_t>(stream.Below(length));
    std::ranges::sort(steps);
    std::int64_t row = (shape.first + i) * count;
    for (const std::int64_t t : steps) {
      out.visited_states.row(row) = block.states(t).row(i);
      out.visited_actions.row(row) = block.actions(t).row(i);
      out.visited_steps[static_cast<std::size_t>(row++)] = t;
    }
  }
}

Array<double, 2> MemberRewards(const RolloutInputs& inputs, const RolloutOptions& options,
                               std::int64_t horizon, std::uint64_t seed) {
  const std::int64_t n =
      std::min<std::int64_t>(options.member_episodes, inputs.start_states.rows());
  Array<double, 2> rewards({n > 0 ? inputs.dynamics.members() : 0, horizon});
  if (n == 0) return rewards;
  RollOutInEachMember(inputs, n, horizon, seed,
                      [&](std::int64_t member, const BlockRollout& block) {
                        for (std::int64_t t = 0; t < horizon; ++t) {
                          double sum = 0.0;
                          for (std::int64_t i = 0; i < n; ++i) sum += block.reward(i, t);
                          rewards(member, t) = sum / static_cast<double>(n);
                        }
                      });
  return rewards;
}

}  // namespace

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
  const auto& m = member_rewards.shape();
  file.Put("member_shape", std::vector<std::int64_t>(m.begin(), m.end()));
  file.Put("member_rewards",
           std::vector<double>(member_rewards.flat().begin(), member_rewards.flat().end()));
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
  fill("member_shape", "member_rewards", out.member_rewards);
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
  ParallelBlocks(total, kRolloutBlock, [&](std::int64_t begin, std::int64_t end) {
    if (InterruptRequested()) throw Interrupted();
    const BlockShape shape{.first = begin, .size = end - begin, .first_step = 0, .steps = horizon};
    BlockRollout block(inputs, inputs.start_states.middleRows(begin, shape.size), shape, seed);
    block.Run();
    StoreOutcomes(block, shape, options.episodes, inputs.ratios.size(), out);
    StoreVisited(block, shape, options.visited_per_episode, out);
    clamped += block.clamped();
    steps += block.total_steps();
    if (progress != nullptr) progress->Advance(end - begin);
  });
  out.member_rewards = MemberRewards(inputs, options, horizon, seed);
  out.clamped_values = clamped;
  out.predicted_values = steps * (inputs.spec.obs_dim + inputs.spec.aux_dim());
  return out;
}

}  // namespace lfiw::ope
