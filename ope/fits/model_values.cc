#include "ope/fits/model_values.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/seed_of.h"
#include "core/statistics.h"
#include "ope/rollouts/block_rollout.h"

namespace lfiw::ope {
namespace {

using Episodes = std::vector<std::int64_t>;

// What every part of the fit reads.
struct ModelValueProblem {
  const RolloutInputs& inputs;
  const Policy* behavior;  // null where it is not known
  const EpisodeBatch& log;
  std::int64_t horizon;
  double discount;
  const ModelValueOptions& options;
  std::uint64_t seed;
  const FitRun& run;

  std::int64_t Steps(std::int64_t episode) const { return log.UsableSteps(episode, horizon); }
  auto Observation(std::int64_t episode, std::int64_t t) const {
    return log.observations.row(log.ObservationRow(episode, t));
  }
  void Advance(std::int64_t work) const {
    if (run.progress != nullptr) run.progress->Advance(work);
  }
};

// A seed of its own for each set of rollouts, whose trajectories are numbered from 0.
std::uint64_t RolloutSeed(const ModelValueProblem& problem, const char* purpose,
                          std::initializer_list<std::uint64_t> indices) {
  return SeedOf(Stream(problem.seed, purpose, indices));
}

// `count` of the episodes, each as often as another, in random order.
Episodes Draw(const Episodes& episodes, std::int64_t count, Stream stream) {
  const auto order = stream.Permutation(std::ssize(episodes));
  Episodes drawn;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t pick = order[static_cast<std::size_t>(i % std::ssize(episodes))];
    drawn.push_back(episodes[static_cast<std::size_t>(pick)]);
  }
  return drawn;
}

// Rollouts from the states of `episodes` at `step`: trajectories first .. first + episodes.size().
struct RolloutTask {
  std::int64_t step = 0;
  std::int64_t first = 0;
  Episodes episodes;
  std::uint64_t seed = 0;
};

void AddTasks(std::int64_t step, const Episodes& episodes, std::uint64_t seed,
              std::vector<RolloutTask>& tasks) {
  for (std::int64_t first = 0; first < std::ssize(episodes); first += kRolloutBlock) {
    const auto end = std::min(first + kRolloutBlock, std::ssize(episodes));
    tasks.push_back({step, first, {episodes.begin() + first, episodes.begin() + end}, seed});
  }
}

BlockRollout RollOut(const ModelValueProblem& problem, const RolloutInputs& inputs,
                     const RolloutTask& task) {
  if (InterruptRequested()) throw Interrupted();
  MatrixF starts(std::ssize(task.episodes), problem.log.obs_dim());
  for (std::int64_t i = 0; i < starts.rows(); ++i) {
    starts.row(i) = problem.Observation(task.episodes[static_cast<std::size_t>(i)], task.step);
  }
  BlockRollout block(inputs, starts,
                     {.first = task.first,
                      .size = starts.rows(),
                      .first_step = task.step,
                      .steps = problem.horizon - task.step},
                     task.seed);
  block.Run();
  return block;
}

void AddSample(ConstMatrixRef state, std::int64_t step, double target, std::int64_t group,
               std::int64_t row, StepSamples& samples) {
  samples.states.row(row) = state;
  samples.steps[static_cast<std::size_t>(row)] = step;
  samples.targets[static_cast<std::size_t>(row)] = target;
  samples.groups[static_cast<std::size_t>(row)] = group;
}

StepSamples MakeSamples(std::int64_t count, std::int64_t obs_dim) {
  const auto n = static_cast<std::size_t>(count);
  return {MatrixF(count, obs_dim), std::vector<std::int64_t>(n), std::vector<double>(n),
          std::vector<std::int64_t>(n)};
}

// Returns to go of each rollout from its first state and from its state at a later step that is
// drawn without regard to its length, where it still runs then. A step drawn among those that a
// rollout visits would take rollouts that end early too often, and the returns would be too small.
StepSamples ReturnsOf(const ModelValueProblem& problem, const RolloutTask& task,
                      const BlockRollout& block) {
  const std::int64_t size = std::ssize(task.episodes), steps = problem.horizon - task.step;
  std::vector<std::int64_t> later(static_cast<std::size_t>(size), 0);  // 0: none
  std::int64_t count = size;
  for (std::int64_t i = 0; i < size && steps > 1; ++i) {
    Stream stream = block.VisitedStream(i);
    const auto step =
        1 + static_cast<std::int64_t>(stream.Below(static_cast<std::uint64_t>(steps - 1)));
    if (step >= block.length(i)) continue;
    later[static_cast<std::size_t>(i)] = step;
    ++count;
  }
  StepSamples samples = MakeSamples(count, problem.log.obs_dim());
  std::vector<double> to_go(static_cast<std::size_t>(steps) + 1);
  std::int64_t row = size;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t length = block.length(i);
    to_go[static_cast<std::size_t>(length)] = 0.0;
    for (std::int64_t k = length; k-- > 0;) {
      const auto at = static_cast<std::size_t>(k);
      to_go[at] = block.reward(i, k) + problem.discount * to_go[at + 1];
    }
    const std::int64_t group = task.episodes[static_cast<std::size_t>(i)];
    AddSample(block.states(0).row(i), task.step, to_go[0], group, i, samples);
    const std::int64_t k = later[static_cast<std::size_t>(i)];
    if (k == 0) continue;
    AddSample(block.states(k).row(i), task.step + k, to_go[static_cast<std::size_t>(k)], group,
              row++, samples);
  }
  return samples;
}

StepSamples Join(const std::vector<StepSamples>& parts, std::int64_t obs_dim) {
  std::int64_t count = 0;
  for (const StepSamples& part : parts) count += part.size();
  StepSamples joined = MakeSamples(count, obs_dim);
  std::int64_t row = 0;
  for (const StepSamples& part : parts) {
    for (std::int64_t i = 0; i < part.size(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      AddSample(part.states.row(i), part.steps[k], part.targets[k], part.groups[k], row++, joined);
    }
  }
  return joined;
}

// Samples of V: rollouts from logged states of every step that some episode reaches.
StepSamples ValueSamples(const ModelValueProblem& problem, const Episodes& episodes) {
  std::vector<RolloutTask> tasks;
  const std::int64_t starts = StartsPerStep(problem.options, problem.horizon);
  for (std::int64_t t = 0; t < problem.horizon; ++t) {
    Episodes reaching;
    std::ranges::copy_if(episodes, std::back_inserter(reaching),
                         [&](std::int64_t e) { return problem.log.Length(e) > t; });
    if (reaching.empty()) break;
    const auto step = static_cast<std::uint64_t>(t);
    AddTasks(t, Draw(reaching, starts, Stream(problem.seed, "model value starts", {step})),
             RolloutSeed(problem, "model value rollouts", {step}), tasks);
  }
  std::vector<StepSamples> parts(tasks.size());
  ParallelFor(std::ssize(tasks), [&](std::int64_t index) {
    const RolloutTask& task = tasks[static_cast<std::size_t>(index)];
    parts[static_cast<std::size_t>(index)] =
        ReturnsOf(problem, task, RollOut(problem, problem.inputs, task));
    problem.Advance(std::ssize(task.episodes));
  });
  return Join(parts, problem.log.obs_dim());
}

// Steps of the i-th of several episodes such that all of them together cover every step alike.
std::vector<std::int64_t> SpreadSteps(std::int64_t i, std::int64_t length, std::int64_t stride) {
  std::vector<std::int64_t> steps;
  for (std::int64_t t = i % stride; t < length; t += stride) steps.push_back(t);
  return steps;
}

// States of the log, labeled 0.
StepSamples LoggedStates(const ModelValueProblem& problem, const Episodes& episodes,
                         std::int64_t stride) {
  std::vector<std::pair<std::int64_t, std::int64_t>> chosen;
  for (std::int64_t i = 0; i < std::ssize(episodes); ++i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    for (const std::int64_t t : SpreadSteps(i, problem.Steps(e), stride)) chosen.emplace_back(e, t);
  }
  StepSamples samples = MakeSamples(std::ssize(chosen), problem.log.obs_dim());
  std::int64_t row = 0;
  for (const auto& [e, t] : chosen) {
    AddSample(problem.Observation(e, t), t, 0.0, e, row++, samples);
  }
  return samples;
}

// States that a policy visits in the model from the episodes' first states on, all with one label.
struct VisitedStates {
  StepSamples samples;
  std::vector<double> alive;  // [T]
};

// Both policies of a fold start from the same states and see the same random numbers, so that equal
// policies visit equal states.
VisitedStates VisitInModel(const ModelValueProblem& problem, const RolloutInputs& inputs,
                           double label, const Episodes& episodes, std::uint64_t fold,
                           std::int64_t stride) {
  std::vector<RolloutTask> tasks;
  AddTasks(0,
           Draw(episodes, problem.options.trajectories,
                Stream(problem.seed, "model visitation starts", {fold})),
           RolloutSeed(problem, "model visitation rollouts", {fold}), tasks);
  std::vector<StepSamples> parts(tasks.size());
  std::vector<std::vector<std::int64_t>> lengths(tasks.size());
  ParallelFor(std::ssize(tasks), [&](std::int64_t index) {
    const RolloutTask& task = tasks[static_cast<std::size_t>(index)];
    const BlockRollout block = RollOut(problem, inputs, task);
    const std::int64_t size = std::ssize(task.episodes);
    std::vector<std::pair<std::int64_t, std::int64_t>> chosen;
    for (std::int64_t i = 0; i < size; ++i) {
      lengths[static_cast<std::size_t>(index)].push_back(block.length(i));
      for (const std::int64_t t : SpreadSteps(task.first + i, block.length(i), stride)) {
        chosen.emplace_back(i, t);
      }
    }
    StepSamples samples = MakeSamples(std::ssize(chosen), problem.log.obs_dim());
    std::int64_t row = 0;
    for (const auto& [i, t] : chosen) {
      AddSample(block.states(t).row(i), t, label, task.episodes[static_cast<std::size_t>(i)], row++,
                samples);
    }
    parts[static_cast<std::size_t>(index)] = std::move(samples);
    problem.Advance(size);
  });

  std::vector<double> alive(static_cast<std::size_t>(problem.horizon), 0.0);
  for (const auto& block : lengths) {
    for (const std::int64_t length : block) {
      for (std::int64_t t = 0; t < length; ++t) alive[static_cast<std::size_t>(t)] += 1.0;
    }
  }
  for (double& share : alive) share /= static_cast<double>(problem.options.trajectories);
  return {Join(parts, problem.log.obs_dim()), std::move(alive)};
}

// Leaves only samples of steps of which both sides have some.
StepSamples KeepCommonSteps(const StepSamples& a, const StepSamples& b, std::int64_t horizon,
                            std::int64_t obs_dim) {
  std::vector<int> seen(static_cast<std::size_t>(horizon), 0);
  for (const std::int64_t t : a.steps) seen[static_cast<std::size_t>(t)] |= 1;
  for (const std::int64_t t : b.steps) seen[static_cast<std::size_t>(t)] |= 2;
  const StepSamples all = Join({a, b}, obs_dim);
  std::vector<std::int64_t> kept;
  for (std::int64_t row = 0; row < all.size(); ++row) {
    const std::int64_t t = all.steps[static_cast<std::size_t>(row)];
    if (seen[static_cast<std::size_t>(t)] == 3) kept.push_back(row);
  }
  StepSamples out = MakeSamples(std::ssize(kept), obs_dim);
  std::int64_t to = 0;
  for (const std::int64_t row : kept) {
    const auto k = static_cast<std::size_t>(row);
    AddSample(all.states.row(row), all.steps[k], all.targets[k], all.groups[k], to++, out);
  }
  return out;
}

// The ratio of states fitted on all folds but one.
struct FoldRatio {
  TimedFunction function;
  std::vector<double> alive;
  TimedFunctionSummary summary;
};

// Share of the episodes that still run at each step, [T], of those that have not been cut before.
std::vector<double> LoggedShares(const ModelValueProblem& problem, const Episodes& episodes) {
  std::vector<double> shares;
  for (std::int64_t t = 0; t < problem.horizon; ++t) {
    double going = 0.0, ended = 0.0;
    for (const std::int64_t e : episodes) {
      if (problem.log.Length(e) > t) {
        going += 1.0;
      } else if (problem.log.terminated[static_cast<std::size_t>(e)] != 0) {
        ended += 1.0;
      }
    }
    shares.push_back(going > 0.0 ? going / (going + ended) : 0.0);
  }
  return shares;
}

FoldRatio FitFold(const ModelValueProblem& problem, const Episodes& episodes, std::int64_t fold) {
  const auto index = static_cast<std::uint64_t>(fold);
  const std::int64_t stride =
      std::max<std::int64_t>(1, problem.horizon / problem.options.states_per_episode);
  VisitedStates visited = VisitInModel(problem, problem.inputs, 1.0, episodes, index, stride);
  StepSamples others;
  if (problem.behavior == nullptr) {
    others = LoggedStates(problem, episodes, stride);
  } else {
    const RolloutInputs& in = problem.inputs;
    const RolloutInputs logging{.dynamics = in.dynamics,
                                .ratios = in.ratios,
                                .policy = *problem.behavior,
                                .spec = in.spec,
                                .functions = in.functions,
                                .start_states = in.start_states,
                                .range = in.range};
    VisitedStates own = VisitInModel(problem, logging, 0.0, episodes, index, stride);
    const std::vector<double> logged = LoggedShares(problem, episodes);
    for (std::size_t t = 0; t < logged.size(); ++t) {
      if (own.alive[t] == 0.0) continue;
      visited.alive[t] = std::min(1.0, logged[t] * visited.alive[t] / own.alive[t]);
    }
    others = std::move(own.samples);
  }
  const StepSamples states =
      KeepCommonSteps(visited.samples, others, problem.horizon, problem.log.obs_dim());
  TimedFunctionFit ratio =
      FitStepLogRatio(states, problem.horizon, problem.options.ratio,
                      fmt::format("model visitation {}", fold), problem.seed, problem.run);
  return {std::move(ratio.function), std::move(visited.alive), std::move(ratio.summary)};
}

// Evaluates one episode; row `index` of the result.
class EpisodeValues {
 public:
  EpisodeValues(const ModelValueProblem& problem, const TimedFunction& value,
                const TimedFunction& ratio, std::int64_t episode)
      : problem_(problem),
        value_(value),
        ratio_(ratio),
        episode_(episode),
        steps_(problem.Steps(episode)),
        draws_(problem.options.draws),
        members_(problem.inputs.dynamics.MembersFor(episode)),
        unseen_(problem.inputs.functions.Unseen(episode)),
        stream_(problem.seed, "model value draws", {static_cast<std::uint64_t>(episode)}) {}

  void Write(std::int64_t row, ModelValues& out) {
    WriteFit(out.values.v_fit.Row(row), out.state_log_ratios.Row(row));
    RepeatStates();
    RepeatLoggedActions();
    LookAhead(out.values.q.Row(row));
    DrawActions();
    LookAhead(out.values.v.Row(row));
    // what is left of the policy's value where a time limit cut the episode
    if (steps_ < problem_.horizon && !Terminated()) {
      out.values.v(row, steps_) = out.values.v_fit(row, steps_);
    }
  }

 private:
  bool Terminated() const {
    return steps_ == problem_.log.Length(episode_) &&
           problem_.log.terminated[static_cast<std::size_t>(episode_)] != 0;
  }

  // v_fit at the states 0 .. steps, the state ratio at 0 .. steps - 1.
  void WriteFit(std::span<double> v_fit, std::span<double> log_ratios) const {
    const std::int64_t last = steps_ < problem_.horizon && !Terminated() ? steps_ + 1 : steps_;
    const MatrixF states =
        problem_.log.observations.middleRows(problem_.log.ObservationRow(episode_, 0), last);
    std::vector<std::int64_t> at(static_cast<std::size_t>(last));
    for (std::int64_t t = 0; t < last; ++t) at[static_cast<std::size_t>(t)] = t;
    value_.Predict(states, at, v_fit.first(at.size()));
    const auto count = static_cast<std::size_t>(steps_);
    ratio_.Predict(states.topRows(steps_), std::span(at).first(count), log_ratios.first(count));
    // every episode starts as the log's do
    if (count > 0) log_ratios[0] = 0.0;
  }

  // Row t * draws + k of the buffers is draw k of step t.
  void RepeatStates() {
    states_.resize(steps_ * draws_, problem_.log.obs_dim());
    at_.resize(static_cast<std::size_t>(states_.rows()));
    for (std::int64_t t = 0; t < steps_; ++t) {
      states_.middleRows(t * draws_, draws_).rowwise() = problem_.Observation(episode_, t);
      std::fill_n(at_.begin() + t * draws_, draws_, t);
    }
  }

  void RepeatLoggedActions() {
    actions_.resize(states_.rows(), problem_.log.action_dim());
    const std::int64_t first = problem_.log.offsets[static_cast<std::size_t>(episode_)];
    for (std::int64_t t = 0; t < steps_; ++t) {
      actions_.middleRows(t * draws_, draws_).rowwise() = problem_.log.actions.row(first + t);
    }
  }

  void DrawActions() {
    MatrixF noise = Noise(problem_.inputs.policy.noise_dim());
    problem_.inputs.policy.Sample(states_, at_, noise, actions_);
    ClipActions(problem_.inputs.spec, actions_);
  }

  MatrixF Noise(std::int64_t dim) {
    MatrixF noise(states_.rows(), dim);
    stream_.FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
    return noise;
  }

  // Means over draws of r(s, a, s^) + g V_{t+1}(s^); values [T or more].
  void LookAhead(std::span<double> values) {
    const RolloutInputs& in = problem_.inputs;
    std::vector<std::int64_t> member(at_.size());
    for (std::int64_t& m : member) m = members_[stream_.Below(members_.size())];
    const MatrixF noise = Noise(in.dynamics.noise_dim());
    MatrixF next(states_.rows(), states_.cols()), aux(states_.rows(), in.spec.aux_dim());
    in.dynamics.Sample(states_, actions_, member, noise, next, aux);
    if (!next.allFinite()) {
      Throw<NumericError>(
          "model values: episode {}: the dynamics model predicts a value that is not finite; "
          "retrain it with a smaller learning rate or more data",
          episode_);
    }
    ClampRows(next, in.range.state_low, in.range.state_high);
    ClampRows(aux, in.range.aux_low, in.range.aux_high);
    std::vector<double> outcomes(at_.size());
    std::vector<std::uint8_t> terminated(at_.size());
    const TaskRules& rules = unseen_ ? *unseen_ : in.functions;
    rules.Rewards(states_, actions_, next, aux, outcomes);
    rules.Terminated(states_, actions_, next, terminated);
    const std::vector<double> tails = NextValues(next);
    for (std::size_t row = 0; row < tails.size(); ++row) {
      if (terminated[row] == 0) outcomes[row] += problem_.discount * tails[row];
    }
    const auto draws = static_cast<std::size_t>(draws_);
    for (std::size_t t = 0; t < static_cast<std::size_t>(steps_); ++t) {
      values[t] = Mean(std::span(outcomes).subspan(t * draws, draws));
    }
  }

  // V_{t+1} of drawn next states, without those of the horizon's last step: nothing follows it.
  std::vector<double> NextValues(const MatrixF& next) const {
    const std::int64_t rows = std::min(steps_, problem_.horizon - 1) * draws_;
    std::vector<std::int64_t> after(at_.begin(), at_.begin() + rows);
    for (std::int64_t& t : after) ++t;
    std::vector<double> values(after.size());
    value_.Predict(next.topRows(rows), after, values);
    return values;
  }

  static void ClampRows(MatrixF& rows, const VectorF& low, const VectorF& high) {
    if (rows.cols() == 0) return;
    rows = rows.cwiseMax(low.transpose().replicate(rows.rows(), 1))
               .cwiseMin(high.transpose().replicate(rows.rows(), 1));
  }

  const ModelValueProblem& problem_;
  const TimedFunction& value_;
  const TimedFunction& ratio_;
  std::int64_t episode_, steps_, draws_;
  std::vector<std::int64_t> members_;
  std::unique_ptr<TaskRules> unseen_;  // null: all parts of the rules may be asked
  Stream stream_;
  MatrixF states_, actions_;
  std::vector<std::int64_t> at_;
};

std::optional<double> MeanOf(const std::vector<std::optional<double>>& values) {
  double sum = 0.0;
  for (const auto& value : values) {
    if (!value) return {};
    sum += *value;
  }
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::int64_t StartsPerStep(const ModelValueOptions& options, std::int64_t horizon) {
  constexpr std::int64_t kFullSteps = 100;
  if (horizon <= kFullSteps) return options.starts;
  return std::max<std::int64_t>(2, options.starts * kFullSteps / horizon);
}

std::int64_t ModelValueWork(const ModelValueOptions& options, std::int64_t horizon) {
  return StartsPerStep(options, horizon) * horizon +
         options.value.members * options.value.fit.steps +
         options.folds *
             (2 * options.trajectories + options.ratio.members * options.ratio.fit.steps);
}

ModelValues FitModelValues(const RolloutInputs& inputs, const Policy* behavior,
                           const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                           std::int64_t horizon, double discount, const ModelValueOptions& options,
                           std::uint64_t seed, const FitRun& run) {
  Episodes used;
  std::ranges::copy_if(episodes, std::back_inserter(used),
                       [&](std::int64_t e) { return log.UsableSteps(e, horizon) > 0; });
  if (std::ssize(used) < 2 * options.folds) {
    Throw<DataError>("model values: {} episodes for {} folds, expected at least {}", used.size(),
                     options.folds, 2 * options.folds);
  }
  const ModelValueProblem problem{inputs, behavior, log, horizon, discount, options, seed, run};
  const std::int64_t n = std::ssize(used);
  ModelValues out;
  out.episodes = used;
  out.values = {Array<double, 2>({n, horizon}), Array<double, 2>({n, horizon + 1}),
                Array<double, 2>({n, horizon + 1})};
  out.state_log_ratios = Array<double, 2>({n, horizon});
  out.alive.assign(static_cast<std::size_t>(horizon), 0.0);

  const TimedFunctionFit value =
      FitStepValue(ValueSamples(problem, used), horizon, options.value, "model value", seed, run);
  out.value_r2 = value.summary.r2;

  const auto order = Stream(seed, "model value folds").Permutation(n);
  std::vector<std::optional<double>> auc;
  for (std::int64_t fold = 0; fold < options.folds; ++fold) {
    Episodes train, rows;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = order[static_cast<std::size_t>(i)];
      if (i % options.folds == fold) {
        rows.push_back(row);
      } else {
        train.push_back(used[static_cast<std::size_t>(row)]);
      }
    }
    const FoldRatio ratio = FitFold(problem, train, fold);
    ParallelFor(std::ssize(rows), [&](std::int64_t i) {
      const std::int64_t row = rows[static_cast<std::size_t>(i)];
      EpisodeValues(problem, value.function, ratio.function, used[static_cast<std::size_t>(row)])
          .Write(row, out);
    });
    for (std::size_t t = 0; t < out.alive.size(); ++t) {
      out.alive[t] += ratio.alive[t] / static_cast<double>(options.folds);
    }
    auc.push_back(ratio.summary.auc);
  }
  out.ratio_auc = MeanOf(auc);
  return out;
}

}  // namespace lfiw::ope
