#include "ope/fits/mrdr.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "models/episode_split.h"
#include "models/fit_identity.h"

namespace lfiw::ope {
namespace {

// Of the rows that a gradient step draws, so that Q is fitted where the evaluation policy hardly
// comes, too.
constexpr double kUniformShare = 0.1;
// Weight of c^2 in the loss. All Q + c / w have the same variance; this asks for that of the least
// c, which is Q itself where networks can express it, for a tenth of the squared mean.
constexpr double kCenterPenalty = 0.1;

// Rows with their clipped ratios.
struct WeightedRows {
  LoggedRows rows;
  std::vector<double> ratio;       // w_t
  std::vector<double> target;      // returns weighted by ratios, for MrdrTarget::kReturns
  std::vector<double> cumulative;  // running sum of the probabilities of the rows; the last is 1
  std::int64_t clipped = 0;
};

// What the members share.
struct MrdrData {
  const LoggedProblem& logged;
  const MrdrOptions& options;
  std::int64_t steps;  // of the step input
  WeightedRows train, validation;
  Scaler pairs, states;
  StepScales scales;
};

// Adds the rows of one episode; returns their g^2t W_t^2.
std::vector<double> AddEpisode(std::span<const double> log_ratios, std::span<const double> rewards,
                               double discount, const MrdrOptions& options, WeightedRows& out) {
  std::vector<double> weights, targets(rewards.size());
  double product = 1.0, factor = 1.0;
  for (std::size_t t = 0; t < rewards.size(); ++t) {
    const double ratio = std::exp(log_ratios[t]);
    const double clipped = std::min(ratio, options.largest_ratio);
    const double held = std::min(product, options.largest_product);
    out.clipped += ratio > clipped || product > held ? 1 : 0;
    out.ratio.push_back(clipped);
    weights.push_back(factor * held * held);
    product = held * clipped;
    factor *= discount * discount;
  }
  // y_t = r_t + g w_{t+1} y_{t+1}
  const auto first = out.ratio.size() - rewards.size();
  double next = 0.0;
  for (std::size_t t = rewards.size(); t-- > 0;) {
    targets[t] = rewards[t] + next;
    next = discount * out.ratio[first + t] * targets[t];
  }
  out.target.insert(out.target.end(), targets.begin(), targets.end());
  return weights;
}

WeightedRows MakeRows(const EpisodeBatch& log, const Array<double, 2>& log_ratios,
                      const std::vector<std::int64_t>& episodes, const Estimand& estimand,
                      const MrdrOptions& options) {
  WeightedRows out;
  out.rows = RowsOf(log, episodes, estimand);
  std::vector<double> weights;
  for (const std::int64_t e : episodes) {
    const auto steps = static_cast<std::size_t>(StepsWithin(log, e, estimand));
    const auto first = static_cast<std::size_t>(log.offsets[static_cast<std::size_t>(e)]);
    const std::vector<double> added =
        AddEpisode(log_ratios.Row(e).first(steps), std::span(log.rewards).subspan(first, steps),
                   estimand.discount, options, out);
    weights.insert(weights.end(), added.begin(), added.end());
  }
  out.cumulative = std::move(weights);
  return out;
}

// Replaces weights by the running sum of probabilities, in the units in which Q is fitted.
void Normalize(const StepScales& scales, WeightedRows& rows) {
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.cumulative.size(); ++i) {
    const double width = scales.widths[static_cast<std::size_t>(rows.rows.step[i])];
    rows.cumulative[i] *= width * width;
    sum += rows.cumulative[i];
  }
  const double uniform = 1.0 / static_cast<double>(rows.cumulative.size());
  double running = 0.0;
  for (double& weight : rows.cumulative) {
    const double share = sum > 0.0 ? weight / sum : uniform;
    running += (1.0 - kUniformShare) * share + kUniformShare * uniform;
    weight = running;
  }
}

std::int64_t DrawRow(const WeightedRows& rows, Stream& stream) {
  const auto at = std::ranges::upper_bound(rows.cumulative, stream.Uniform());
  return std::min<std::int64_t>(at - rows.cumulative.begin(), rows.rows.size() - 1);
}

MatrixF States(const EpisodeBatch& log, const LoggedRows& rows,
               std::span<const std::int64_t> picked) {
  return StatesAndActions(log, rows, picked).leftCols(log.obs_dim());
}

Scaler FitStateScaler(const EpisodeBatch& log, const LoggedRows& rows,
                      const ScalerOptions& options) {
  const auto read = [&](std::int64_t i, VectorF& state) {
    state = log.observations.row(rows.state[static_cast<std::size_t>(i)]).transpose();
  };
  return Scaler::Fit(rows.size(), log.obs_dim(), read, options);
}

// The networks of Q and c, with the same again for targets.
struct Networks {
  Mlp q, c, target_q, target_c;
};

// One member: its networks and, behind them in the parameters, those that make the targets, so that
// a checkpoint holds all.
class MrdrProblem : public FitProblem {
 public:
  MrdrProblem(const MrdrData& problem, Networks& networks, Stream batches)
      : problem_(problem), networks_(networks), batches_(batches) {
    const VectorF &q = networks.q.parameters(), &c = networks.c.parameters();
    half_ = q.size() + c.size();
    parameters_.resize(2 * half_);
    parameters_ << q, c, q, c;
    // c starts at 0: no weights in its last layer
    const MlpOptions& shape = problem.options.network;
    const std::int64_t last = shape.hidden_layers == 0 ? c.size() : shape.width + 1;
    parameters_.segment(q.size(), c.size()).tail(last).setZero();
    q_gradient_.resize(q.size());
    c_gradient_.resize(c.size());
    Stream stream = batches.Child(0);
    for (std::int64_t i = 0; i < problem.options.validation_rows; ++i) {
      validation_.push_back(DrawRow(problem.validation, stream));
    }
  }

  VectorF& parameters() override { return parameters_; }

  double LossGradient(std::int64_t step, VectorF& gradient) override {
    if (step % problem_.options.target_every == 0) {
      parameters_.tail(half_) = parameters_.head(half_);
    }
    Load();
    Stream stream = batches_.Child(static_cast<std::uint64_t>(step) + 1);
    std::vector<std::int64_t> picked;
    for (std::int64_t i = 0; i < problem_.options.fit.batch; ++i) {
      picked.push_back(DrawRow(problem_.train, stream));
    }
    const std::vector<double> targets = Targets(problem_.train, picked, stream);
    const MatrixF pairs = PairInputs(problem_.train, picked);
    const MatrixF states = StateInputs(problem_.train, picked);
    MatrixF q_gradient(pairs.rows(), 1), c_gradient(pairs.rows(), 1);
    const double loss = Loss(problem_.train, picked, targets, networks_.q.ForwardTraining(pairs),
                             networks_.c.ForwardTraining(states), q_gradient, c_gradient);
    networks_.q.Backward(q_gradient, q_gradient_);
    networks_.c.Backward(c_gradient, c_gradient_);
    gradient.head(half_) << q_gradient_, c_gradient_;
    gradient.tail(half_).setZero();
    return loss;
  }

  double ValidationLoss() override {
    Load();
    Stream stream = batches_.Child(0).Child(1);
    const std::vector<double> targets = Targets(problem_.validation, validation_, stream);
    const Eigen::Index n = std::ssize(validation_);
    MatrixF q(n, 1), c(n, 1), q_gradient(n, 1), c_gradient(n, 1);
    networks_.q.Forward(PairInputs(problem_.validation, validation_), q);
    networks_.c.Forward(StateInputs(problem_.validation, validation_), c);
    return Loss(problem_.validation, validation_, targets, q, c, q_gradient, c_gradient);
  }

 private:
  void Load() {
    Eigen::Index from = 0;
    for (Mlp* network : {&networks_.q, &networks_.c, &networks_.target_q, &networks_.target_c}) {
      network->parameters() = parameters_.segment(from, network->parameters().size());
      from += network->parameters().size();
    }
  }

  MatrixF PairInputs(const WeightedRows& rows, std::span<const std::int64_t> picked) const {
    return Inputs(problem_.pairs, StatesAndActions(problem_.logged.log, rows.rows, picked),
                  Picked(rows.rows.step, picked));
  }
  MatrixF StateInputs(const WeightedRows& rows, std::span<const std::int64_t> picked) const {
    return Inputs(problem_.states, States(problem_.logged.log, rows.rows, picked),
                  Picked(rows.rows.step, picked));
  }
  MatrixF Inputs(const Scaler& scaler, const MatrixF& values,
                 std::span<const std::int64_t> steps) const {
    MatrixF out(values.rows(), TimedFunction::InputDim(scaler));
    TimedFunction::Inputs(scaler, problem_.steps, values, steps, out);
    return out;
  }

  // Scaled y of the picked rows.
  std::vector<double> Targets(const WeightedRows& rows, std::span<const std::int64_t> picked,
                              Stream& stream) const {
    std::vector<double> out;
    if (problem_.options.target == MrdrTarget::kReturns) {
      for (const std::int64_t row : picked) {
        out.push_back(rows.target[static_cast<std::size_t>(row)]);
      }
    } else {
      out = Bootstrap(rows.rows, picked, stream);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto t = static_cast<std::size_t>(rows.rows.step[static_cast<std::size_t>(picked[i])]);
      out[i] = (out[i] - problem_.scales.centers[t]) / problem_.scales.widths[t];
    }
    return out;
  }

  // r + g (V + c)(s') of the lagged networks.
  std::vector<double> Bootstrap(const LoggedRows& rows, std::span<const std::int64_t> picked,
                                Stream& stream) const {
    const std::int64_t draws = problem_.options.target_draws;
    const MatrixF states = NextStates(problem_.logged.log, rows, picked);
    const std::vector<std::int64_t> after = NextSteps(rows, picked, problem_.steps);
    const MatrixF pairs =
        WithDrawnActions(problem_.logged, states, Picked(rows.real_step, picked, 1), draws, stream);
    MatrixF q(pairs.rows(), 1), c(states.rows(), 1);
    networks_.target_q.Forward(Inputs(problem_.pairs, pairs, Repeated(after, draws)), q);
    networks_.target_c.Forward(Inputs(problem_.states, states, after), c);
    std::vector<double> out;
    for (std::size_t i = 0; i < picked.size(); ++i) {
      const auto row = static_cast<std::size_t>(picked[i]),
                 next = static_cast<std::size_t>(after[i]);
      const auto at = static_cast<Eigen::Index>(i);
      const double value =
          q.col(0).segment(at * draws, draws).cast<double>().mean() + static_cast<double>(c(at, 0));
      double target = problem_.logged.log.rewards[static_cast<std::size_t>(rows.action[row])];
      if (rows.last[row] == 0) {
        target += problem_.logged.estimand.discount *
                  (problem_.scales.centers[next] + problem_.scales.widths[next] * value);
      }
      out.push_back(target);
    }
    return out;
  }

  // Mean of (w (y - Q) - c)^2 and the penalty, with its gradients.
  static double Loss(const WeightedRows& rows, std::span<const std::int64_t> picked,
                     const std::vector<double>& targets, ConstMatrixRef q, ConstMatrixRef c,
                     MatrixF& q_gradient, MatrixF& c_gradient) {
    const double share = 1.0 / static_cast<double>(picked.size());
    double loss = 0.0;
    for (std::size_t i = 0; i < picked.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      const double ratio = rows.ratio[static_cast<std::size_t>(picked[i])];
      const auto center = static_cast<double>(c(at, 0));
      const double error = ratio * (targets[i] - static_cast<double>(q(at, 0))) - center;
      loss += share * (error * error + kCenterPenalty * center * center);
      q_gradient(at, 0) = static_cast<float>(-2.0 * share * error * ratio);
      c_gradient(at, 0) = static_cast<float>(2.0 * share * (kCenterPenalty * center - error));
    }
    return loss;
  }

  const MrdrData& problem_;
  Networks& networks_;
  Stream batches_;
  Eigen::Index half_ = 0;
  VectorF parameters_, q_gradient_, c_gradient_;
  std::vector<std::int64_t> validation_;
};

void CheckRatios(const EpisodeBatch& log, const Array<double, 2>& ratios,
                 const Estimand& estimand) {
  std::int64_t longest = 0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) longest = std::max(longest, log.Length(e));
  longest = std::min(longest, estimand.horizon.value_or(longest));
  if (ratios.shape()[0] == log.episodes() && ratios.shape()[1] >= longest) return;
  Throw<DataError>("mrdr: action log-ratios are [{}, {}], expected [{}, {}] as in the log",
                   ratios.shape()[0], ratios.shape()[1], log.episodes(), longest);
}

std::vector<Networks> MakeMemberNetworks(const MrdrData& problem, std::uint64_t seed) {
  const std::int64_t pairs = TimedFunction::InputDim(problem.pairs);
  const std::int64_t states = TimedFunction::InputDim(problem.states);
  const MlpOptions& options = problem.options.network;
  std::vector<Networks> out;
  for (std::int64_t k = 0; k < problem.options.members; ++k) {
    const Stream q(seed, "mrdr weights", {static_cast<std::uint64_t>(k)}), c = q.Child(1);
    out.push_back({Mlp(pairs, 1, options, q), Mlp(states, 1, options, c), Mlp(pairs, 1, options, q),
                   Mlp(states, 1, options, c)});
  }
  return out;
}

}  // namespace

MrdrFit FitMrdr(const LoggedProblem& logged, const Array<double, 2>& action_log_ratios,
                const MrdrOptions& options, std::uint64_t seed, const FitRun& run) {
  const EpisodeBatch& log = logged.log;
  const Estimand& estimand = logged.estimand;
  RequireDiscount(estimand);
  CheckRatios(log, action_log_ratios, estimand);
  const EpisodeSplit split = SplitEpisodes(NonEmptyEpisodes(log), options.validation_share,
                                           Stream(seed, "mrdr validation episodes"), "mrdr");
  MrdrData problem{
      .logged = logged,
      .options = options,
      .steps = estimand.horizon.value_or(1),
      .train = MakeRows(log, action_log_ratios, split.train, estimand, options),
      .validation = MakeRows(log, action_log_ratios, split.validation, estimand, options),
      .pairs = {},
      .states = {},
      .scales = {}};
  const LoggedRows& rows = problem.train.rows;
  problem.pairs = FitPairScaler(log, rows, options.scaler);
  problem.states = FitStateScaler(log, rows, options.scaler);
  problem.scales = MeasureScales(rows, ReturnsToGo(log, split.train, estimand), problem.steps);
  Normalize(problem.scales, problem.train);
  Normalize(problem.scales, problem.validation);

  std::vector<Networks> networks = MakeMemberNetworks(problem, seed);
  const EnsembleJob job{.name = "mrdr member",
                        .identity = FitIdentity(options, seed, DescribeProblem(logged, rows)),
                        .file = "mrdr",
                        .kept = KeptParameters::kLast};
  const auto make = [&](std::int64_t k) {
    const auto member = static_cast<std::uint64_t>(k);
    return MrdrProblem(problem, networks[member], Stream(seed, "mrdr batch", {member}));
  };
  const auto done = [&](std::int64_t k, MrdrProblem& member) {
    VectorF& own = networks[static_cast<std::size_t>(k)].q.parameters();
    own = member.parameters().head(own.size());
  };
  std::vector<FitSummary> summaries =
      FitEnsemble(options.members, options.fit, job, run, make, done);
  std::vector<Mlp> q;
  for (Networks& member : networks) q.push_back(std::move(member.q));
  const auto clipped = static_cast<double>(problem.train.clipped + problem.validation.clipped);
  const auto count = static_cast<double>(rows.size() + problem.validation.rows.size());
  return {TimedFunction(problem.pairs, problem.scales.centers, problem.scales.widths, std::move(q)),
          std::move(summaries), clipped / count};
}

ValueArrays MrdrValues(const MrdrFit& fit, const LoggedProblem& problem,
                       std::span<const std::int64_t> episodes, std::int64_t columns,
                       const MrdrOptions& options, std::uint64_t seed) {
  const auto q = [&](ConstMatrixRef pairs, std::span<const std::int64_t> steps,
                     std::span<double> values) { fit.q.Predict(pairs, steps, values); };
  return ValuesOnLog(q, problem, episodes, columns, options.value_draws,
                     Stream(seed, "mrdr value draws"));
}

}  // namespace lfiw::ope
