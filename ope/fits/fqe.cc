#include "ope/fits/fqe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/index_list.h"
#include "core/rng.h"
#include "core/seed_of.h"
#include "models/episode_split.h"
#include "models/fit_identity.h"
#include "models/losses.h"

namespace lfiw::ope {
namespace {

// What the members share.
struct FqeData {
  const LoggedProblem& logged;
  const FqeOptions& options;
  std::int64_t steps;  // of the step input
  LoggedRows train, validation;
  Scaler scaler;
  StepScales scales;
};

// One member: its network and, behind it in the parameters, the one that makes the targets, so that
// a checkpoint holds both.
class FqeProblem : public FitProblem {
 public:
  FqeProblem(const FqeData& problem, Mlp& network, Mlp& target, Stream batches)
      : problem_(problem),
        network_(network),
        target_(target),
        batches_(batches),
        half_(network.parameters().size()),
        rows_(static_cast<std::size_t>(problem.options.fit.batch)) {
    parameters_.resize(2 * half_);
    network_gradient_.resize(half_);
    parameters_ << network.parameters(), network.parameters();
    validation_ = IndexList(problem.validation.size());
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

  void Inputs(const LoggedRows& rows, std::span<const std::int64_t> picked, MatrixF& inputs) const {
    const MatrixF pairs = StatesAndActions(problem_.logged.log, rows, picked);
    inputs.resize(pairs.rows(), TimedFunction::InputDim(problem_.scaler));
    TimedFunction::Inputs(problem_.scaler, problem_.steps, pairs, Picked(rows.step, picked, 0),
                          inputs);
  }

  // Scaled targets of the picked rows, [n, 1].
  MatrixF Targets(const LoggedRows& rows, std::span<const std::int64_t> picked,
                  Stream& stream) const {
    const std::int64_t draws = problem_.options.target_draws;
    const MatrixF pairs =
        WithDrawnActions(problem_.logged, NextStates(problem_.logged.log, rows, picked),
                         Picked(rows.real_step, picked, 1), draws, stream);
    const std::vector<std::int64_t> after = NextSteps(rows, picked, problem_.steps);
    MatrixF inputs(pairs.rows(), TimedFunction::InputDim(problem_.scaler));
    MatrixF outputs(pairs.rows(), 1);
    TimedFunction::Inputs(problem_.scaler, problem_.steps, pairs, Repeated(after, draws), inputs);
    target_.Forward(inputs, outputs);

    MatrixF targets(std::ssize(picked), 1);
    const StepScales& scales = problem_.scales;
    for (Eigen::Index i = 0; i < targets.rows(); ++i) {
      const auto row = static_cast<std::size_t>(picked[static_cast<std::size_t>(i)]);
      const auto next = static_cast<std::size_t>(after[static_cast<std::size_t>(i)]);
      const auto t = static_cast<std::size_t>(rows.step[row]);
      const double mean = outputs.col(0).segment(i * draws, draws).cast<double>().mean();
      double target = problem_.logged.log.rewards[static_cast<std::size_t>(rows.action[row])];
      if (rows.last[row] == 0) {
        target +=
            problem_.logged.estimand.discount * (scales.centers[next] + scales.widths[next] * mean);
      }
      targets(i, 0) = static_cast<float>((target - scales.centers[t]) / scales.widths[t]);
    }
    return targets;
  }

  const FqeData& problem_;
  Mlp& network_;
  Mlp& target_;
  Stream batches_;
  Eigen::Index half_;
  VectorF parameters_, network_gradient_;
  std::vector<std::int64_t> rows_, validation_;
  MatrixF inputs_, output_gradient_;
};

// Returns the root mean square Bellman error of the whole ensemble on the held-out rows, as a share
// of the width that targets have within the rows' steps (Problem::scales).
double Residual(const FqeData& problem, const TimedFunction& q, Stream stream) {
  const LoggedRows& rows = problem.validation;
  const std::vector<std::int64_t> all =
      Subsample(IndexList(rows.size()), problem.options.validation_rows, stream.Child(0));
  const std::int64_t draws = problem.options.value_draws;
  std::vector<double> here(all.size()), next(all.size() * static_cast<std::size_t>(draws));
  q.Predict(StatesAndActions(problem.logged.log, rows, all), Picked(rows.step, all, 0), here);
  q.Predict(WithDrawnActions(problem.logged, NextStates(problem.logged.log, rows, all),
                             Picked(rows.real_step, all, 1), draws, stream),
            Repeated(NextSteps(rows, all, problem.steps), draws), next);
  double squares = 0.0, scale = 0.0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto row = static_cast<std::size_t>(all[i]);
    double target = problem.logged.log.rewards[static_cast<std::size_t>(rows.action[row])];
    for (std::int64_t k = 0; k < draws && rows.last[row] == 0; ++k) {
      target += problem.logged.estimand.discount *
                next[i * static_cast<std::size_t>(draws) + static_cast<std::size_t>(k)] /
                static_cast<double>(draws);
    }
    squares += std::pow(here[i] - target, 2);
    scale += std::pow(problem.scales.widths[static_cast<std::size_t>(rows.step[row])], 2);
  }
  return std::sqrt(squares / scale);
}

// FitFqe with checkpoints of that name.
FqeFit FitNamed(const std::string& file, const LoggedProblem& logged, const FqeOptions& options,
                std::uint64_t seed, const FitRun& run) {
  const Estimand& estimand = logged.estimand;
  RequireDiscount(estimand);
  const EpisodeSplit split = SplitEpisodes(NonEmptyEpisodes(logged.log), options.validation_share,
                                           Stream(seed, "fqe validation episodes"), "fqe");
  FqeData problem{.logged = logged,
                  .options = options,
                  .steps = estimand.horizon.value_or(1),
                  .train = RowsOf(logged.log, split.train, estimand),
                  .validation = RowsOf(logged.log, split.validation, estimand),
                  .scaler = {},
                  .scales = {}};
  problem.scaler = FitPairScaler(logged.log, problem.train, options.scaler);
  problem.scales =
      MeasureScales(problem.train, ReturnsToGo(logged.log, split.train, estimand), problem.steps);

  const std::int64_t inputs = TimedFunction::InputDim(problem.scaler);
  std::vector<Mlp> networks =
      MakeNetworks(options.members, inputs, 1, options.network, seed, "fqe weights");
  std::vector<Mlp> targets =
      MakeNetworks(options.members, inputs, 1, options.network, seed, "fqe weights");
  const EnsembleJob job{
      .name = "fqe member",
      .identity = FitIdentity(options, seed, DescribeProblem(logged, problem.train)),
      .file = file,
      .kept = KeptParameters::kLast};
  const auto make = [&](std::int64_t k) {
    const auto member = static_cast<std::uint64_t>(k);
    return FqeProblem(problem, networks[member], targets[member],
                      Stream(seed, "fqe batch", {member}));
  };
  const auto done = [&](std::int64_t k, FqeProblem& member) {
    VectorF& own = networks[static_cast<std::size_t>(k)].parameters();
    own = member.parameters().head(own.size());
  };
  std::vector<FitSummary> summaries =
      FitEnsemble(options.members, options.fit, job, run, make, done);
  TimedFunction q(problem.scaler, problem.scales.centers, problem.scales.widths,
                  std::move(networks));
  const double residual = Residual(problem, q, Stream(seed, "fqe residual"));
  return {std::move(q), std::move(summaries), residual};
}

}  // namespace

FqeFit FitFqe(const LoggedProblem& problem, const FqeOptions& options, std::uint64_t seed,
              const FitRun& run) {
  return FitNamed("fqe", problem, options, seed, run);
}

ValueArrays FqeValues(const FqeFit& fit, const LoggedProblem& problem,
                      std::span<const std::int64_t> episodes, std::int64_t columns,
                      const FqeOptions& options, std::uint64_t seed) {
  const auto q = [&](ConstMatrixRef pairs, std::span<const std::int64_t> steps,
                     std::span<double> values) { fit.q.Predict(pairs, steps, values); };
  return ValuesOnLog(q, problem, episodes, columns, options.value_draws,
                     Stream(seed, "fqe value draws"));
}

namespace {

// Copies row i of `part` into row rows[i] of `all`.
void PutRows(const Array<double, 2>& part, std::span<const std::int64_t> rows,
             Array<double, 2>& all) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(part.Row(static_cast<std::int64_t>(i)), all.Row(rows[i]).begin());
  }
}

std::vector<std::string> NotesOf(const FqeOptions& options, const Estimand& estimand,
                                 double residual) {
  std::vector<std::string> notes = {fmt::format(
      "fqe: Bellman error {:.2g} of the width of returns to go, on held-out episodes", residual)};
  const std::int64_t renewals = options.fit.steps / options.target_every;
  if (estimand.horizon && renewals < *estimand.horizon) {
    notes.push_back(fmt::format(
        "fqe: {} renewals of the targets carry rewards back by as many of {} steps; beyond, values "
        "stay near the log's own; raise fit.steps or lower target_every",
        renewals, *estimand.horizon));
  }
  return notes;
}

}  // namespace

FqeOutcome FitFqeValues(const LoggedProblem& problem, std::span<const std::int64_t> episodes,
                        std::int64_t columns, const FqeOptions& options, std::uint64_t seed,
                        const FitRun& run) {
  if (options.folds == 1) {
    const FqeFit fit = FitFqe(problem, options, seed, run);
    return {FqeValues(fit, problem, episodes, columns, options, seed),
            NotesOf(options, problem.estimand, fit.residual)};
  }
  const std::int64_t n = problem.log.episodes();
  const auto order = Stream(seed, "fqe folds").Permutation(n);
  std::vector<std::int64_t> fold_of(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < order.size(); ++i) {
    fold_of[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i) % options.folds;
  }
  const std::int64_t count = std::ssize(episodes);
  FqeOutcome out{.values = {.q = Array<double, 2>({count, columns}),
                            .v = Array<double, 2>({count, columns + 1}),
                            .v_fit = {}},
                 .notes = {}};
  double squares = 0.0;
  for (std::int64_t fold = 0; fold < options.folds; ++fold) {
    std::vector<std::int64_t> train, rows, own;
    for (std::int64_t e = 0; e < n; ++e) {
      if (fold_of[static_cast<std::size_t>(e)] != fold) train.push_back(e);
    }
    for (std::int64_t row = 0; row < count; ++row) {
      const std::int64_t e = episodes[static_cast<std::size_t>(row)];
      if (fold_of[static_cast<std::size_t>(e)] != fold) continue;
      rows.push_back(row);
      own.push_back(e);
    }
    const EpisodeBatch part = SelectEpisodes(problem.log, train);
    const std::uint64_t fold_seed = SeedOf(seed, "fqe fold", fold);
    const FqeFit fit =
        FitNamed(fmt::format("fqe_fold{}", fold),
                 {part, problem.policy, problem.spec, problem.estimand}, options, fold_seed, run);
    const ValueArrays values = FqeValues(fit, problem, own, columns, options, seed);
    PutRows(values.q, rows, out.values.q);
    PutRows(values.v, rows, out.values.v);
    squares += fit.residual * fit.residual / static_cast<double>(options.folds);
  }
  out.notes = NotesOf(options, problem.estimand, std::sqrt(squares));
  return out;
}

}  // namespace lfiw::ope
