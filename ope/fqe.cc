#include "ope/fqe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "models/episode_split.h"
#include "models/losses.h"

namespace lfiw {
namespace {

// The logged transitions that count, with what the regression needs of each.
struct Rows {
  std::vector<std::int64_t> state;      // row of log.observations; the next state is the next row
  std::vector<std::int64_t> action;     // row of log.actions
  std::vector<std::int64_t> step;       // 0 for an infinite horizon
  std::vector<std::int64_t> real_step;  // within the episode, for policies that see it
  std::vector<std::uint8_t> last;       // nothing follows
  std::int64_t size() const { return std::ssize(state); }
};

Rows RowsOf(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
            const Estimand& estimand) {
  Rows rows;
  for (const std::int64_t e : episodes) {
    const std::int64_t length = log.Length(e);
    const std::int64_t steps = std::min(length, estimand.horizon.value_or(length));
    for (std::int64_t t = 0; t < steps; ++t) {
      rows.state.push_back(log.ObservationRow(e, t));
      rows.action.push_back(log.offsets[static_cast<std::size_t>(e)] + t);
      rows.step.push_back(estimand.horizon ? t : 0);
      rows.real_step.push_back(t);
      const bool terminal = t + 1 == length && log.terminated[static_cast<std::size_t>(e)] != 0;
      rows.last.push_back(terminal || (estimand.horizon && t + 1 == *estimand.horizon) ? 1 : 0);
    }
  }
  return rows;
}

// Logged returns to go of each row: the first guess of Q, and its scale.
std::vector<double> ReturnsToGo(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                const Estimand& estimand) {
  std::vector<double> out;
  for (const std::int64_t e : episodes) {
    const std::int64_t length = log.Length(e);
    const std::int64_t steps = std::min(length, estimand.horizon.value_or(length));
    const auto first = static_cast<std::size_t>(log.offsets[static_cast<std::size_t>(e)]);
    std::vector<double> to_go(static_cast<std::size_t>(steps) + 1, 0.0);
    for (auto t = static_cast<std::size_t>(steps); t-- > 0;) {
      to_go[t] = log.rewards[first + t] + estimand.discount * to_go[t + 1];
    }
    out.insert(out.end(), to_go.begin(), to_go.end() - 1);
  }
  return out;
}

// Affine scale of Q at each step.
struct OutputScales {
  std::vector<double> centers, widths;
};

OutputScales MeasureScales(const Rows& rows, const std::vector<double>& to_go, std::int64_t steps) {
  const auto count = static_cast<std::size_t>(steps);
  std::vector<double> sum(count), squares(count), n(count);
  double largest = 0.0;
  for (std::size_t i = 0; i < to_go.size(); ++i) {
    const auto t = static_cast<std::size_t>(rows.step[i]);
    sum[t] += to_go[i];
    n[t] += 1.0;
    largest = std::max(largest, std::abs(to_go[i]));
  }
  for (std::size_t i = 0; i < to_go.size(); ++i) {
    const auto t = static_cast<std::size_t>(rows.step[i]);
    squares[t] += std::pow(to_go[i] - sum[t] / n[t], 2);
  }
  OutputScales scales;
  for (std::size_t t = 0; t < count; ++t) {
    const double counted = std::max(1.0, n[t]);
    scales.centers.push_back(sum[t] / counted);
    // returns that hardly vary still leave room for those of another policy
    scales.widths.push_back(std::max({std::sqrt(squares[t] / counted), 1e-3 * largest, 1e-6}));
  }
  return scales;
}

// What the members share.
struct Problem {
  const EpisodeBatch& log;
  const Policy& policy;
  const EnvSpec& spec;
  double discount;
  const FqeOptions& options;
  std::int64_t steps;  // of the step input
  Rows train, validation;
  Scaler scaler;
  OutputScales scales;
};

MatrixF StatesAndActions(const EpisodeBatch& log, const Rows& rows,
                         std::span<const std::int64_t> picked) {
  MatrixF out(std::ssize(picked), log.obs_dim() + log.action_dim());
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    const auto row = static_cast<std::size_t>(picked[static_cast<std::size_t>(i)]);
    out.row(i).head(log.obs_dim()) = log.observations.row(rows.state[row]);
    out.row(i).tail(log.action_dim()) = log.actions.row(rows.action[row]);
  }
  return out;
}

std::vector<std::int64_t> Picked(const std::vector<std::int64_t>& values,
                                 std::span<const std::int64_t> picked, std::int64_t shift) {
  std::vector<std::int64_t> out;
  for (const std::int64_t row : picked)
    out.push_back(values[static_cast<std::size_t>(row)] + shift);
  return out;
}

// Each row of `states` `draws` times over, with an action of the policy: [n * draws, s + a].
MatrixF WithDrawnActions(const Policy& policy, const EnvSpec& spec, ConstMatrixRef states,
                         std::span<const std::int64_t> real_steps, std::int64_t draws,
                         Stream& stream) {
  const std::int64_t n = states.rows() * draws;
  MatrixF repeated(n, states.cols()), actions(n, policy.action_dim());
  std::vector<std::int64_t> at;
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    repeated.middleRows(i * draws, draws).rowwise() = states.row(i);
    at.insert(at.end(), static_cast<std::size_t>(draws), real_steps[static_cast<std::size_t>(i)]);
  }
  MatrixF noise(n, policy.noise_dim());
  stream.FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  policy.Sample(repeated, at, noise, actions);
  if (policy.discrete_actions() == 0) ClipActions(spec, actions);
  MatrixF out(n, states.cols() + actions.cols());
  out << repeated, actions;
  return out;
}

// Next states of the picked rows.
MatrixF NextStates(const EpisodeBatch& log, const Rows& rows,
                   std::span<const std::int64_t> picked) {
  MatrixF out(std::ssize(picked), log.obs_dim());
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    const auto row = static_cast<std::size_t>(picked[static_cast<std::size_t>(i)]);
    out.row(i) = log.observations.row(rows.state[row] + 1);
  }
  return out;
}

// The step input of successors, kept in range where nothing follows.
std::vector<std::int64_t> NextSteps(const Problem& problem, const Rows& rows,
                                    std::span<const std::int64_t> picked) {
  std::vector<std::int64_t> out;
  for (const std::int64_t row : picked) {
    const std::int64_t t = rows.step[static_cast<std::size_t>(row)];
    out.push_back(std::min(t + 1, problem.steps - 1));
  }
  return out;
}

// One member: its network and, behind it in the parameters, the one that makes the targets, so that
// a checkpoint holds both.
class FqeProblem : public FitProblem {
 public:
  FqeProblem(const Problem& problem, Mlp& network, Mlp& target, Stream batches)
      : problem_(problem),
        network_(network),
        target_(target),
        batches_(batches),
        half_(network.parameters().size()),
        rows_(static_cast<std::size_t>(problem.options.fit.batch)) {
    parameters_.resize(2 * half_);
    network_gradient_.resize(half_);
    parameters_ << network.parameters(), network.parameters();
    validation_.resize(static_cast<std::size_t>(problem.validation.size()));
    for (std::size_t i = 0; i < validation_.size(); ++i) {
      validation_[i] = static_cast<std::int64_t>(i);
    }
    if (std::ssize(validation_) > problem.options.validation_rows) {
      validation_ = Subsample(validation_, problem.options.validation_rows, batches.Child(0));
    }
  }

  VectorF& parameters() override { return parameters_; }

  double LossGradient(std::int64_t step, VectorF& gradient) override {
    if (step % problem_.options.target_every == 0) {
      parameters_.tail(half_) = parameters_.head(half_);
    }
    Load();
    Stream stream = batches_.Child(static_cast<std::uint64_t>(step) + 1);
    for (std::int64_t& row : rows_) {
      row = static_cast<std::int64_t>(
          stream.Below(static_cast<std::uint64_t>(problem_.train.size())));
    }
    const MatrixF targets = Targets(problem_.train, rows_, stream);
    Inputs(problem_.train, rows_, inputs_);
    output_gradient_.resize(targets.rows(), 1);
    const double loss = SquaredError(network_.ForwardTraining(inputs_), targets, output_gradient_);
    network_.Backward(output_gradient_, network_gradient_);
    gradient.head(half_) = network_gradient_;
    gradient.tail(half_).setZero();
    return loss;
  }

  double ValidationLoss() override {
    Load();
    Stream stream = batches_.Child(0).Child(1);
    const MatrixF targets = Targets(problem_.validation, validation_, stream);
    Inputs(problem_.validation, validation_, inputs_);
    MatrixF outputs(targets.rows(), 1), scratch(targets.rows(), 1);
    network_.Forward(inputs_, outputs);
    return SquaredError(outputs, targets, scratch);
  }

 private:
  void Load() {
    network_.parameters() = parameters_.head(half_);
    target_.parameters() = parameters_.tail(half_);
  }

  void Inputs(const Rows& rows, std::span<const std::int64_t> picked, MatrixF& inputs) const {
    const MatrixF pairs = StatesAndActions(problem_.log, rows, picked);
    inputs.resize(pairs.rows(), StepFunction::InputDim(problem_.scaler));
    StepFunction::Inputs(problem_.scaler, problem_.steps, pairs, Picked(rows.step, picked, 0),
                         inputs);
  }

  // Scaled targets of the picked rows, [n, 1].
  MatrixF Targets(const Rows& rows, std::span<const std::int64_t> picked, Stream& stream) const {
    const std::int64_t draws = problem_.options.target_draws;
    const MatrixF pairs =
        WithDrawnActions(problem_.policy, problem_.spec, NextStates(problem_.log, rows, picked),
                         Picked(rows.real_step, picked, 1), draws, stream);
    const std::vector<std::int64_t> after = NextSteps(problem_, rows, picked);
    std::vector<std::int64_t> repeated;
    for (const std::int64_t t : after) {
      repeated.insert(repeated.end(), static_cast<std::size_t>(draws), t);
    }
    MatrixF inputs(pairs.rows(), StepFunction::InputDim(problem_.scaler));
    MatrixF outputs(pairs.rows(), 1);
    StepFunction::Inputs(problem_.scaler, problem_.steps, pairs, repeated, inputs);
    target_.Forward(inputs, outputs);

    MatrixF targets(std::ssize(picked), 1);
    const OutputScales& scales = problem_.scales;
    for (Eigen::Index i = 0; i < targets.rows(); ++i) {
      const auto row = static_cast<std::size_t>(picked[static_cast<std::size_t>(i)]);
      const auto next = static_cast<std::size_t>(after[static_cast<std::size_t>(i)]);
      const auto t = static_cast<std::size_t>(rows.step[row]);
      const double mean = outputs.col(0).segment(i * draws, draws).cast<double>().mean();
      double target = problem_.log.rewards[static_cast<std::size_t>(rows.action[row])];
      if (rows.last[row] == 0) {
        target += problem_.discount * (scales.centers[next] + scales.widths[next] * mean);
      }
      targets(i, 0) = static_cast<float>((target - scales.centers[t]) / scales.widths[t]);
    }
    return targets;
  }

  const Problem& problem_;
  Mlp& network_;
  Mlp& target_;
  Stream batches_;
  Eigen::Index half_;
  VectorF parameters_, network_gradient_;
  std::vector<std::int64_t> rows_, validation_;
  MatrixF inputs_, output_gradient_;
};

// Of the whole ensemble on the held-out rows, relative to the spread of `to_go` within steps.
double Residual(const Problem& problem, const StepFunction& q, Stream stream) {
  const Rows& rows = problem.validation;
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  all = Subsample(all, problem.options.validation_rows, stream.Child(0));
  const std::int64_t draws = problem.options.value_draws;
  std::vector<double> here(all.size()), next(all.size() * static_cast<std::size_t>(draws));
  q.Predict(StatesAndActions(problem.log, rows, all), Picked(rows.step, all, 0), here);
  std::vector<std::int64_t> repeated;
  for (const std::int64_t t : NextSteps(problem, rows, all)) {
    repeated.insert(repeated.end(), static_cast<std::size_t>(draws), t);
  }
  q.Predict(WithDrawnActions(problem.policy, problem.spec, NextStates(problem.log, rows, all),
                             Picked(rows.real_step, all, 1), draws, stream),
            repeated, next);
  double squares = 0.0, scale = 0.0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto row = static_cast<std::size_t>(all[i]);
    double target = problem.log.rewards[static_cast<std::size_t>(rows.action[row])];
    for (std::int64_t k = 0; k < draws && rows.last[row] == 0; ++k) {
      target += problem.discount *
                next[i * static_cast<std::size_t>(draws) + static_cast<std::size_t>(k)] /
                static_cast<double>(draws);
    }
    squares += std::pow(here[i] - target, 2);
    scale += std::pow(problem.scales.widths[static_cast<std::size_t>(rows.step[row])], 2);
  }
  return std::sqrt(squares / scale);
}

}  // namespace

FqeFit FitFqe(const EpisodeBatch& log, const Policy& policy, const EnvSpec& spec,
              const Estimand& estimand, const FqeOptions& options, std::uint64_t seed,
              const FitRun& run) {
  if (!estimand.horizon && !(estimand.discount < 1.0)) {
    Throw<ConfigError>("value.discount: {}, expected less than 1 for an infinite horizon",
                       estimand.discount);
  }
  std::vector<std::int64_t> episodes;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    if (log.Length(e) > 0) episodes.push_back(e);
  }
  const EpisodeSplit split = SplitEpisodes(episodes, options.validation_share,
                                           Stream(seed, "fqe validation episodes"), "fqe");
  Problem problem{.log = log,
                  .policy = policy,
                  .spec = spec,
                  .discount = estimand.discount,
                  .options = options,
                  .steps = estimand.horizon.value_or(1),
                  .train = RowsOf(log, split.train, estimand),
                  .validation = RowsOf(log, split.validation, estimand),
                  .scaler = {},
                  .scales = {}};
  std::vector<std::int64_t> all(static_cast<std::size_t>(problem.train.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  problem.scaler = Scaler::Fit(StatesAndActions(log, problem.train, all), options.scaler);
  problem.scales =
      MeasureScales(problem.train, ReturnsToGo(log, split.train, estimand), problem.steps);

  std::vector<Mlp> networks, targets;
  for (std::int64_t k = 0; k < options.members; ++k) {
    const Stream weights(seed, "fqe weights", {static_cast<std::uint64_t>(k)});
    networks.emplace_back(StepFunction::InputDim(problem.scaler), 1, options.network, weights);
    targets.emplace_back(StepFunction::InputDim(problem.scaler), 1, options.network, weights);
  }
  std::vector<FitSummary> summaries(networks.size());
  ParallelFor(options.members, [&](std::int64_t k) {
    const auto index = static_cast<std::size_t>(k);
    FqeProblem member(problem, networks[index], targets[index],
                      Stream(seed, "fqe batch", {static_cast<std::uint64_t>(k)}));
    FitJob job = FitJob::Of(run, fmt::format("fqe member {}", k),
                            fmt::format("seed {}; {} rows; targets every {}", seed,
                                        problem.train.size(), options.target_every),
                            fmt::format("fqe_{}.npz", k));
    job.kept = KeptParameters::kLast;
    summaries[index] = Fit(member, options.fit, job);
    const Eigen::Index half = networks[index].parameters().size();
    networks[index].parameters() = member.parameters().head(half);
  });
  StepFunction q(problem.scaler, problem.scales.centers, problem.scales.widths,
                 std::move(networks));
  const double residual = Residual(problem, q, Stream(seed, "fqe residual"));
  return {std::move(q), std::move(summaries), residual};
}

ValueArrays FqeValues(const FqeFit& fit, const EpisodeBatch& log,
                      std::span<const std::int64_t> episodes, const Policy& policy,
                      const EnvSpec& spec, const Estimand& estimand, std::int64_t columns,
                      const FqeOptions& options, std::uint64_t seed) {
  const std::int64_t n = std::ssize(episodes);
  ValueArrays out{Array<double, 2>({n, columns}), Array<double, 2>({n, columns + 1}), {}};
  ParallelFor(n, [&](std::int64_t i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    const std::array<std::int64_t, 1> one = {e};
    const Rows rows = RowsOf(log, one, estimand);
    if (rows.size() == 0) return;
    std::vector<std::int64_t> all(static_cast<std::size_t>(rows.size()));
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::int64_t>(k);
    fit.q.Predict(StatesAndActions(log, rows, all), rows.step, out.q.Row(i).first(all.size()));

    // the state after the last step has a value too unless nothing follows
    const std::int64_t states = rows.size() + (rows.last.back() != 0 ? 0 : 1);
    const MatrixF observations = log.observations.middleRows(log.ObservationRow(e, 0), states);
    std::vector<std::int64_t> real_steps, repeated;
    for (std::int64_t t = 0; t < states; ++t) {
      real_steps.push_back(t);
      repeated.insert(repeated.end(), static_cast<std::size_t>(options.value_draws),
                      estimand.horizon ? t : 0);
    }
    Stream stream(seed, "fqe value draws", {static_cast<std::uint64_t>(e)});
    std::vector<double> values(repeated.size());
    fit.q.Predict(
        WithDrawnActions(policy, spec, observations, real_steps, options.value_draws, stream),
        repeated, values);
    for (std::int64_t t = 0; t < states; ++t) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < options.value_draws; ++k) {
        sum += values[static_cast<std::size_t>(t * options.value_draws + k)];
      }
      out.v(i, t) = sum / static_cast<double>(options.value_draws);
    }
  });
  return out;
}

}  // namespace lfiw
