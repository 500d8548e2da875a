#include "ope/fits/regularized_lagrangian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "models/episode_split.h"
#include "models/fit_identity.h"
#include "models/timed_function.h"

namespace lfiw::ope {
namespace {

// A fit whose mean weight or gap is off by more is said to be so. Gaps are measured on few
// episodes.
constexpr double kWeightTolerance = 0.1;
constexpr double kGapTolerance = 0.2;
// softplus(kUnit) = 1: where zeta starts.
constexpr double kUnit = 0.541324854612918;

// What the members share.
struct LagrangianData {
  const LoggedProblem& logged;
  const EpisodeBatch& log;
  const Estimand& estimand;
  const LagrangianOptions& options;
  std::int64_t steps;  // of the step input
  EpisodeSplit split;
  LoggedRows train, validation;
  Scaler scaler;
  StepScales scales;    // of Q
  double reward_scale;  // rewards enter in this unit

  bool finite() const { return estimand.horizon.has_value(); }
  double start() const {  // k
    return finite() ? 1.0 / static_cast<double>(steps) : 1.0 - estimand.discount;
  }
  double flow_discount() const { return finite() ? 1.0 : estimand.discount; }
  bool multiplier() const { return options.normalization == Normalization::kMultiplier; }
  // What makes a mean over rows the expectation over the log.
  double RowScale(const LoggedRows& rows, std::int64_t episodes) const {
    return finite() ? static_cast<double>(rows.size()) / static_cast<double>(episodes * steps)
                    : 1.0;
  }
};

// The reward of a row as it adds to the value.
double RewardOf(const EpisodeBatch& log, const LoggedRows& rows, std::size_t row,
                const Estimand& estimand) {
  const double reward = log.rewards[static_cast<std::size_t>(rows.action[row])];
  return estimand.horizon
             ? std::pow(estimand.discount, static_cast<double>(rows.step[row])) * reward
             : reward;
}

double RewardScale(const LagrangianData& problem) {
  std::vector<double> rewards;
  for (std::size_t row = 0; row < problem.train.state.size(); ++row) {
    rewards.push_back(RewardOf(problem.log, problem.train, row, problem.estimand));
  }
  const double deviation = StandardDeviation(rewards, 0);
  return deviation > 0.0 ? deviation : 1.0;
}

// Where Q is expected: with zeta = 1 it is -a_zeta for each step that is left, plus the rewards.
StepScales GuessScales(const LagrangianData& problem) {
  const LagrangianOptions& options = problem.options;
  const bool rewards = options.reward == RewardTerm::kOn;
  StepScales out, returns;
  if (rewards) {
    std::vector<double> to_go = ReturnsToGo(problem.log, problem.split.train, problem.estimand);
    for (std::size_t row = 0; row < to_go.size(); ++row) {
      to_go[row] *= std::pow(problem.finite() ? problem.estimand.discount : 1.0,
                             static_cast<double>(problem.train.step[row])) /
                    problem.reward_scale;
    }
    returns = MeasureScales(problem.train, to_go, problem.steps);
  }
  for (std::int64_t t = 0; t < problem.steps; ++t) {
    const auto at = static_cast<std::size_t>(t);
    const double left = problem.finite() ? static_cast<double>(problem.steps - t)
                                         : 1.0 / (1.0 - problem.estimand.discount);
    const bool dual = options.primal_regularizer == 0.0 && options.dual_regularizer > 0.0;
    const double center = dual ? -options.dual_regularizer * left : 0.0;
    const double width = dual ? options.dual_regularizer * std::sqrt(left) : 0.0;
    out.centers.push_back(center + (rewards ? returns.centers[at] : 0.0));
    out.widths.push_back(width + (rewards ? returns.widths[at] : 0.0));
    if (out.widths.back() == 0.0) out.widths.back() = 1.0;
  }
  return out;
}

// Rows of the networks' inputs: n logged (s, a), then their successors with `draws` actions each,
// then m first states with as many.
struct Sample {
  std::vector<std::int64_t> rows;   // [n] of LoggedRows
  std::vector<std::int64_t> steps;  // of every row of inputs
  MatrixF inputs;
  std::int64_t n = 0, m = 0, draws = 1;
  std::int64_t NextRow(std::int64_t i) const { return n + i * draws; }
  std::int64_t FirstRow() const { return n + n * draws; }
};

Sample MakeSample(const LagrangianData& problem, const LoggedRows& rows,
                  std::vector<std::int64_t> picked, std::span<const std::int64_t> episodes,
                  Stream& stream) {
  const std::int64_t draws = problem.options.target_draws;
  MatrixF firsts(std::ssize(episodes), problem.log.obs_dim());
  for (Eigen::Index i = 0; i < firsts.rows(); ++i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    firsts.row(i) = problem.log.observations.row(problem.log.ObservationRow(e, 0));
  }
  const std::vector<std::int64_t> zeros(episodes.size(), 0);
  const MatrixF here = StatesAndActions(problem.log, rows, picked);
  const MatrixF next = WithDrawnActions(problem.logged, NextStates(problem.log, rows, picked),
                                        Picked(rows.real_step, picked, 1), draws, stream);
  const MatrixF first = WithDrawnActions(problem.logged, firsts, zeros, draws, stream);
  MatrixF pairs(here.rows() + next.rows() + first.rows(), here.cols());
  pairs << here, next, first;

  Sample sample;
  sample.n = here.rows();
  sample.m = firsts.rows();
  sample.draws = draws;
  sample.rows = std::move(picked);
  sample.steps = Picked(rows.step, sample.rows);
  const std::vector<std::int64_t> after =
      Repeated(NextSteps(rows, sample.rows, problem.steps), draws);
  sample.steps.insert(sample.steps.end(), after.begin(), after.end());
  sample.steps.resize(static_cast<std::size_t>(pairs.rows()), 0);
  sample.inputs.resize(pairs.rows(), TimedFunction::InputDim(problem.scaler));
  TimedFunction::Inputs(problem.scaler, problem.steps, pairs, sample.steps, sample.inputs);
  return sample;
}

double Link(Positivity positivity, double output) {
  if (positivity == Positivity::kNone) return 1.0 + output;
  const double x = output + kUnit;
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}
double LinkSlope(Positivity positivity, double output) {
  return positivity == Positivity::kNone ? 1.0 : 1.0 / (1.0 + std::exp(-output - kUnit));
}

// The expectations that make up the Lagrangian.
struct Pieces {
  double start = 0.0;                           // k E Q(s_0, pi)
  double multiplier = 0.0;                      // mean of lambda
  double reward = 0.0, flow = 0.0, held = 0.0;  // E zeta times: a_R r, g Q' - Q, lambda
  double q_square = 0.0, zeta_square = 0.0, multiplier_square = 0.0;

  // Half of each regularizer, which the primal objective adds and the dual one subtracts.
  double Regularizers(const LagrangianOptions& o) const {
    return 0.5 *
           (o.primal_regularizer * q_square + o.dual_regularizer * zeta_square + multiplier_square);
  }
  double Lagrangian(const LagrangianOptions& o) const {
    return start + multiplier + reward + flow - held + Regularizers(o) -
           o.dual_regularizer * zeta_square;
  }
  // The Lagrangian where it does not change with the scale of zeta, or with that of Q and lambda:
  // at a solution both do not.
  double Gap(const LagrangianOptions& o) const {
    const double primal = start + multiplier + Regularizers(o), dual = reward - Regularizers(o);
    const double floor = 0.5 * (o.primal_regularizer + o.dual_regularizer);
    const double scale = std::max({std::abs(primal), std::abs(dual), floor});
    return scale > 0.0 ? std::abs(primal - dual) / scale : 0.0;
  }
};

// Gradients with respect to the networks' outputs and lambda; those of zeta for descent.
struct OutputGradients {
  MatrixF q, zeta;  // [rows of inputs, 1], [n, 1]
  VectorF multipliers;
};

// One evaluation of the Lagrangian on a sample.
class Evaluation {
 public:
  Evaluation(const LagrangianData& problem, const LoggedRows& rows, double row_scale,
             const Sample& sample, ConstMatrixRef q_outputs, ConstMatrixRef zeta_outputs,
             const VectorF& multipliers)
      : problem_(problem),
        rows_(rows),
        row_scale_(row_scale),
        sample_(sample),
        q_outputs_(q_outputs),
        zeta_outputs_(zeta_outputs),
        multipliers_(multipliers) {
    gradients_.q = MatrixF::Zero(q_outputs.rows(), 1);
    gradients_.zeta = MatrixF::Zero(sample.n, 1);
    gradients_.multipliers = VectorF::Zero(multipliers.size());
    AddFirsts();
    AddMultipliers();
    for (std::int64_t i = 0; i < sample.n; ++i) AddRow(i);
  }

  const Pieces& pieces() const { return pieces_; }
  const OutputGradients& gradients() const { return gradients_; }

 private:
  std::size_t StepOf(std::int64_t row) const {
    return static_cast<std::size_t>(sample_.steps[static_cast<std::size_t>(row)]);
  }
  double Q(std::int64_t row) const {
    const std::size_t t = StepOf(row);
    return problem_.scales.centers[t] +
           problem_.scales.widths[t] * static_cast<double>(q_outputs_(row, 0));
  }
  void AddToQ(std::int64_t row, double gradient) {
    gradients_.q(row, 0) += static_cast<float>(gradient * problem_.scales.widths[StepOf(row)]);
  }

  void AddFirsts() {
    const std::int64_t count = sample_.m * sample_.draws;
    const double share = problem_.start() / static_cast<double>(count);
    for (std::int64_t row = sample_.FirstRow(); row < sample_.FirstRow() + count; ++row) {
      pieces_.start += share * Q(row);
      AddToQ(row, share);
    }
  }

  void AddMultipliers() {
    const double share = 1.0 / static_cast<double>(std::max<std::int64_t>(1, multipliers_.size()));
    for (Eigen::Index t = 0; t < multipliers_.size(); ++t) {
      const auto lambda = static_cast<double>(multipliers_(t));
      pieces_.multiplier += share * lambda;
      pieces_.multiplier_square += share * lambda * lambda;
      gradients_.multipliers(t) = static_cast<float>(share * (1.0 + lambda));
    }
  }

  // lambda times the steps that a weight at this row stands for; adds to lambda's gradient.
  double Held(std::size_t row, double gradient) {
    if (multipliers_.size() == 0) return 0.0;
    if (!problem_.finite()) {
      const double steps =
          rows_.terminal[row] != 0 ? 1.0 / (1.0 - problem_.estimand.discount) : 1.0;
      gradients_.multipliers(0) -= static_cast<float>(gradient * steps);
      return steps * static_cast<double>(multipliers_(0));
    }
    const Eigen::Index begin = rows_.step[row];
    const Eigen::Index end = rows_.terminal[row] != 0 ? multipliers_.size() : begin + 1;
    gradients_.multipliers.segment(begin, end - begin).array() -= static_cast<float>(gradient);
    return static_cast<double>(multipliers_.segment(begin, end - begin).sum());
  }

  void AddRow(std::int64_t i) {
    const LagrangianOptions& options = problem_.options;
    const auto row = static_cast<std::size_t>(sample_.rows[static_cast<std::size_t>(i)]);
    const auto output = static_cast<double>(zeta_outputs_(i, 0));
    const double zeta = Link(options.positivity, output), q = Q(i);
    const double share = row_scale_ / static_cast<double>(sample_.n);
    const double on = rows_.last[row] != 0 ? 0.0 : problem_.flow_discount();
    double next = 0.0;
    for (std::int64_t k = 0; k < sample_.draws; ++k) {
      next += Q(sample_.NextRow(i) + k) / static_cast<double>(sample_.draws);
      AddToQ(sample_.NextRow(i) + k, share * zeta * on / static_cast<double>(sample_.draws));
    }
    AddToQ(i, share * (options.primal_regularizer * q - zeta));

    const double reward =
        options.reward == RewardTerm::kOn
            ? RewardOf(problem_.log, rows_, row, problem_.estimand) / problem_.reward_scale
            : 0.0;
    const double flow = on * next - q, held = Held(row, share * zeta);
    pieces_.reward += share * zeta * reward;
    pieces_.flow += share * zeta * flow;
    pieces_.held += share * zeta * held;
    pieces_.q_square += share * q * q;
    pieces_.zeta_square += share * zeta * zeta;
    const double ascent = reward + flow - held - options.dual_regularizer * zeta;
    gradients_.zeta(i, 0) =
        static_cast<float>(-share * ascent * LinkSlope(options.positivity, output));
  }

  const LagrangianData& problem_;
  const LoggedRows& rows_;
  double row_scale_;
  const Sample& sample_;
  ConstMatrixRef q_outputs_, zeta_outputs_;
  const VectorF& multipliers_;
  Pieces pieces_;
  OutputGradients gradients_;
};

// One member. Its parameters are Q's network, zeta's and lambda, and behind them their averages, so
// that a checkpoint holds all.
class LagrangianProblem : public FitProblem {
 public:
  LagrangianProblem(const LagrangianData& problem, Mlp& q, Mlp& zeta, Stream batches)
      : problem_(problem), q_(q), zeta_(zeta), batches_(batches) {
    const Eigen::Index lambdas = problem.multiplier() ? problem.steps : 0;
    multipliers_ = VectorF::Zero(lambdas);
    half_ = q.parameters().size() + zeta.parameters().size() + lambdas;
    parameters_.resize(2 * half_);
    parameters_.head(half_) << q.parameters(), zeta.parameters(), multipliers_;
    parameters_.tail(half_) = parameters_.head(half_);
    q_gradient_.resize(q.parameters().size());
    zeta_gradient_.resize(zeta.parameters().size());

    Stream stream = batches_.Child(0);
    const std::vector<std::int64_t> rows =
        Subsample(IndexList(problem.validation.size()), problem.options.validation_rows, stream);
    const std::vector<std::int64_t> episodes = Subsample(
        problem.split.validation, problem.options.validation_rows, batches_.Child(0).Child(1));
    validation_ = MakeSample(problem, problem.validation, rows, episodes, stream);
  }

  VectorF& parameters() override { return parameters_; }

  double LossGradient(std::int64_t step, VectorF& gradient) override {
    // the average starts as a plain one
    const auto done = static_cast<double>(step);
    const auto decay =
        static_cast<float>(std::min(problem_.options.average, (1.0 + done) / (10.0 + done)));
    parameters_.tail(half_) =
        decay * parameters_.tail(half_) + (1.0f - decay) * parameters_.head(half_);

    Load(0);
    const Sample sample = Draw(batches_.Child(static_cast<std::uint64_t>(step) + 1));
    const MatrixF logged = sample.inputs.topRows(sample.n);
    const Evaluation evaluation(
        problem_, problem_.train, problem_.RowScale(problem_.train, std::ssize(split().train)),
        sample, q_.ForwardTraining(sample.inputs), zeta_.ForwardTraining(logged), multipliers_);
    q_.Backward(evaluation.gradients().q, q_gradient_);
    zeta_.Backward(evaluation.gradients().zeta, zeta_gradient_);
    gradient.head(half_) << q_gradient_, zeta_gradient_, evaluation.gradients().multipliers;
    gradient.tail(half_).setZero();
    return evaluation.pieces().Lagrangian(problem_.options);
  }

  double ValidationLoss() override { return HeldOut().Lagrangian(problem_.options); }

  // Of the averaged parameters, which stay in the networks.
  Pieces HeldOut() {
    Load(half_);
    MatrixF q_outputs(validation_.inputs.rows(), 1), zeta_outputs(validation_.n, 1);
    q_.Forward(validation_.inputs, q_outputs);
    zeta_.Forward(validation_.inputs.topRows(validation_.n), zeta_outputs);
    return Evaluation(problem_, problem_.validation,
                      problem_.RowScale(problem_.validation, std::ssize(split().validation)),
                      validation_, q_outputs, zeta_outputs, multipliers_)
        .pieces();
  }

 private:
  const EpisodeSplit& split() const { return problem_.split; }

  void Load(Eigen::Index from) {
    const Eigen::Index q = q_.parameters().size(), zeta = zeta_.parameters().size();
    q_.parameters() = parameters_.segment(from, q);
    zeta_.parameters() = parameters_.segment(from + q, zeta);
    multipliers_ = parameters_.segment(from + q + zeta, multipliers_.size());
  }

  Sample Draw(Stream stream) const {
    std::vector<std::int64_t> rows, episodes;
    for (std::int64_t i = 0; i < problem_.options.fit.batch; ++i) {
      rows.push_back(static_cast<std::int64_t>(
          stream.Below(static_cast<std::uint64_t>(problem_.train.size()))));
      episodes.push_back(split().train[stream.Below(split().train.size())]);
    }
    return MakeSample(problem_, problem_.train, std::move(rows), episodes, stream);
  }

  const LagrangianData& problem_;
  Mlp& q_;
  Mlp& zeta_;
  Stream batches_;
  Eigen::Index half_ = 0;
  VectorF parameters_, multipliers_, q_gradient_, zeta_gradient_;
  Sample validation_;
};

// Mean over members of zeta of rows (s, a), [n].
std::vector<double> Ratios(const LagrangianFit& fit, const MatrixF& pairs,
                           std::span<const std::int64_t> steps) {
  MatrixF inputs(pairs.rows(), TimedFunction::InputDim(fit.scaler)), outputs(pairs.rows(), 1);
  TimedFunction::Inputs(fit.scaler, fit.steps, pairs, steps, inputs);
  std::vector<double> out(static_cast<std::size_t>(pairs.rows()), 0.0);
  for (const Mlp& network : fit.ratios) {
    network.Forward(inputs, outputs);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] +=
          Link(fit.positivity, static_cast<double>(outputs(static_cast<Eigen::Index>(i), 0))) /
          static_cast<double>(fit.ratios.size());
    }
  }
  return out;
}

// Mean weight and value over the whole log.
void Summarize(const LagrangianData& problem, LagrangianFit& fit) {
  const std::vector<std::int64_t> episodes = NonEmptyEpisodes(problem.log);
  const LoggedRows rows = RowsOf(problem.log, episodes, problem.estimand);
  const std::vector<double> carried = CarriedSteps(rows, problem.estimand);
  const std::vector<double> zeta =
      Ratios(fit, StatesAndActions(problem.log, rows, IndexList(rows.size())), rows.step);
  const double share =
      problem.RowScale(rows, std::ssize(episodes)) / static_cast<double>(rows.size());
  for (std::size_t row = 0; row < zeta.size(); ++row) {
    fit.mean_weight += share * zeta[row] * carried[row];
    fit.value +=
        share * zeta[row] * RewardOf(problem.log, rows, row, problem.estimand) / problem.start();
  }
}

void AddNotes(const std::string& name, LagrangianFit& fit) {
  if (std::abs(fit.mean_weight - 1.0) > kWeightTolerance) {
    fit.notes.push_back(
        fmt::format("{}: the mean weight is {:.3g}, expected 1", name, fit.mean_weight));
  }
  if (fit.gap > kGapTolerance) {
    fit.notes.push_back(fmt::format(
        "{}: primal and dual objectives disagree by {:.0f} %: not converged, or the networks "
        "cannot express the solution",
        name, 100.0 * fit.gap));
  }
}

}  // namespace

LagrangianOptions DualDiceOptions() { return {}; }

LagrangianOptions GenDiceOptions() {
  LagrangianOptions options;
  options.primal_regularizer = 1.0;
  options.dual_regularizer = 0.0;
  options.normalization = Normalization::kMultiplier;
  return options;
}

LagrangianFit FitLagrangian(const LoggedProblem& logged, const LagrangianOptions& options,
                            const std::string& name, std::uint64_t seed, const FitRun& run) {
  const EpisodeBatch& log = logged.log;
  const Estimand& estimand = logged.estimand;
  RequireDiscount(estimand);
  EpisodeSplit split = SplitEpisodes(NonEmptyEpisodes(log), options.validation_share,
                                     Stream(seed, "lagrangian validation episodes"), name.c_str());
  LagrangianData problem{.logged = logged,
                         .log = log,
                         .estimand = estimand,
                         .options = options,
                         .steps = estimand.horizon.value_or(1),
                         .split = std::move(split),
                         .train = {},
                         .validation = {},
                         .scaler = {},
                         .scales = {},
                         .reward_scale = 1.0};
  problem.train = RowsOf(log, problem.split.train, estimand);
  problem.validation = RowsOf(log, problem.split.validation, estimand);
  problem.scaler = FitPairScaler(log, problem.train, options.scaler);
  problem.reward_scale = RewardScale(problem);
  problem.scales = GuessScales(problem);

  LagrangianFit fit;
  fit.scaler = problem.scaler;
  fit.steps = problem.steps;
  fit.positivity = options.positivity;
  const std::int64_t inputs = TimedFunction::InputDim(problem.scaler);
  std::vector<Mlp> q =
      MakeNetworks(options.members, inputs, 1, options.network, seed, "lagrangian q weights");
  fit.ratios =
      MakeNetworks(options.members, inputs, 1, options.network, seed, "lagrangian ratio weights");
  std::vector<Pieces> pieces(q.size());
  const EnsembleJob job{
      .name = name + " member",
      .identity = FitIdentity(options, seed, DescribeProblem(logged, problem.train)),
      .file = name,
      .kept = KeptParameters::kLast};
  const auto make = [&](std::int64_t k) {
    const auto member = static_cast<std::uint64_t>(k);
    return LagrangianProblem(problem, q[member], fit.ratios[member],
                             Stream(seed, "lagrangian batch", {member}));
  };
  const auto done = [&](std::int64_t k, LagrangianProblem& member) {
    pieces[static_cast<std::size_t>(k)] = member.HeldOut();
  };
  fit.members = FitEnsemble(options.members, options.fit, job, run, make, done);

  const auto count = static_cast<double>(options.members);
  double primal = 0.0;
  for (const Pieces& member : pieces) {
    fit.gap += member.Gap(options) / count;
    primal += (member.start + member.multiplier + options.dual_regularizer * member.zeta_square) *
              problem.reward_scale / problem.start() / count;
  }
  if (options.reward == RewardTerm::kOn) fit.primal_value = primal;
  Summarize(problem, fit);
  AddNotes(name, fit);
  return fit;
}

Array<double, 2> LagrangianLogRatios(const LagrangianFit& fit, const EpisodeBatch& log,
                                     std::span<const std::int64_t> episodes,
                                     const Estimand& estimand, std::int64_t columns) {
  Array<double, 2> out({std::ssize(episodes), columns});
  ParallelFor(std::ssize(episodes), [&](std::int64_t i) {
    const LoggedRows rows = RowsOf(log, episodes.subspan(static_cast<std::size_t>(i), 1), estimand);
    const std::vector<double> ratios =
        Ratios(fit, StatesAndActions(log, rows, IndexList(rows.size())), rows.step);
    std::ranges::transform(ratios, out.Row(i).begin(), [](double ratio) {
      return ratio > 0.0 ? std::log(ratio) : -std::numeric_limits<double>::infinity();
    });
  });
  return out;
}

}  // namespace lfiw::ope
