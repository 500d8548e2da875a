#include "ope/fits/linear_values.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "core/rng.h"

namespace lfiw::ope {
namespace {

// Rows are summed in this many tasks whatever the threads, each in passes of kPass rows.
constexpr std::int64_t kTasks = 16;
constexpr std::int64_t kPass = 512;

struct LinearValueProblem {
  const LoggedProblem& logged;
  const EpisodeBatch& log;
  const FeatureMap& features;
  const LoggedRows& rows;
  std::vector<double> carried;
  std::int64_t draws;
  std::int64_t steps;  // of the step input
  std::uint64_t seed;
};

// Sums over rows of phi phi', phi phi_next', phi r and phi times CarriedSteps.
struct Moments {
  explicit Moments(std::int64_t p)
      : gram(MatrixD::Zero(p, p)),
        cross(MatrixD::Zero(p, p)),
        reward(VectorD::Zero(p)),
        carried(VectorD::Zero(p)) {}
  void Add(const Moments& other) {
    gram += other.gram;
    cross += other.cross;
    reward += other.reward;
    carried += other.carried;
  }
  MatrixD gram, cross;
  VectorD reward, carried;
};

MatrixD FeaturesOf(const FeatureMap& map, const MatrixF& pairs,
                   std::span<const std::int64_t> steps) {
  MatrixF out(pairs.rows(), map.size());
  map.Apply(pairs, steps, out);
  return out.cast<double>();
}

// Mean features of states over actions of the policy, [n, p].
MatrixD PolicyFeatures(const LinearValueProblem& problem, const MatrixF& states,
                       const std::vector<std::int64_t>& real_steps,
                       const std::vector<std::int64_t>& steps, Stream stream) {
  const MatrixF pairs = WithDrawnActions(problem.logged, states, real_steps, problem.draws, stream);
  const MatrixD drawn = FeaturesOf(problem.features, pairs, Repeated(steps, problem.draws));
  MatrixD out(states.rows(), drawn.cols());
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    out.row(i) = drawn.middleRows(i * problem.draws, problem.draws).colwise().mean();
  }
  return out;
}

void AddPass(const LinearValueProblem& problem, std::int64_t begin, std::int64_t end,
             Moments& moments) {
  const LoggedRows& rows = problem.rows;
  std::vector<std::int64_t> picked = IndexList(end - begin);
  for (std::int64_t& row : picked) row += begin;
  const MatrixD here = FeaturesOf(problem.features, StatesAndActions(problem.log, rows, picked),
                                  Picked(rows.step, picked));
  MatrixD next = PolicyFeatures(
      problem, NextStates(problem.log, rows, picked), Picked(rows.real_step, picked, 1),
      NextSteps(rows, picked, problem.steps),
      Stream(problem.seed, "linear values actions", {static_cast<std::uint64_t>(begin)}));
  for (Eigen::Index i = 0; i < next.rows(); ++i) {
    const auto row = static_cast<std::size_t>(begin + i);
    if (rows.last[row] != 0) next.row(i).setZero();
    const double reward = problem.log.rewards[static_cast<std::size_t>(rows.action[row])];
    moments.reward += reward * here.row(i).transpose();
    moments.carried += problem.carried[row] * here.row(i).transpose();
  }
  moments.gram.noalias() += here.transpose() * here;
  moments.cross.noalias() += here.transpose() * next;
}

Moments MomentsOf(const LinearValueProblem& problem) {
  const std::int64_t block = (problem.rows.size() + kTasks - 1) / kTasks;
  std::vector<Moments> parts(kTasks, Moments(problem.features.size()));
  ParallelBlocks(problem.rows.size(), block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kPass) {
      AddPass(problem, at, std::min(at + kPass, end),
              parts[static_cast<std::size_t>(begin / block)]);
    }
  });
  Moments sum(problem.features.size());
  for (const Moments& part : parts) sum.Add(part);
  return sum;
}

// Mean of E_pi phi(s_0, ., 0) over the episodes.
VectorD FirstFeatures(const LinearValueProblem& problem, std::span<const std::int64_t> episodes) {
  MatrixF states(std::ssize(episodes), problem.log.obs_dim());
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    states.row(i) = problem.log.observations.row(problem.log.ObservationRow(e, 0));
  }
  const std::vector<std::int64_t> zeros(episodes.size(), 0);
  return PolicyFeatures(problem, states, zeros, zeros,
                        Stream(problem.seed, "linear values first actions"))
      .colwise()
      .mean()
      .transpose();
}

// Of the mean diagonal of E[phi phi'], in the penalty on weights: keeps features apart that the log
// cannot tell apart.
constexpr double kCoefficientShare = 1e-4;

double MeanDiagonal(const MatrixD& matrix) {
  return matrix.trace() / static_cast<double>(matrix.rows());
}

Eigen::LLT<MatrixD> Factor(const MatrixD& matrix) {
  Eigen::LLT<MatrixD> factor(matrix);
  if (factor.info() != Eigen::Success || !(factor.rcond() > 0.0)) {
    Throw<NumericError>(
        "linear values: the normal equations of {} features are singular, expected positive "
        "definite ones; a larger ridge and weight penalty or fewer features may help",
        matrix.rows());
  }
  return factor;
}

MatrixD WithRidge(MatrixD matrix, double ridge) {
  matrix.diagonal().array() += ridge * MeanDiagonal(matrix);
  return matrix;
}

struct Solution {
  VectorD x;
  double condition;
};

// theta that minimizes |gram^{-1/2} (reward - a theta)|^2 and the ridge.
Solution SolveValues(const MatrixD& gram, const MatrixD& a, const VectorD& reward, double ridge) {
  const Eigen::LLT<MatrixD> metric = Factor(WithRidge(gram, ridge));
  const MatrixD scaled = metric.matrixL().solve(a);
  const Eigen::LLT<MatrixD> factor = Factor(WithRidge(scaled.transpose() * scaled, ridge));
  return {factor.solve(scaled.transpose() * metric.matrixL().solve(reward)), 1.0 / factor.rcond()};
}

// alpha that minimizes |first - a' alpha|^2 and the penalty on E[w^2].
Solution SolveWeights(const MatrixD& gram, const MatrixD& a, const VectorD& first, double penalty) {
  MatrixD system = a * a.transpose();
  const double scale = penalty * MeanDiagonal(system) / MeanDiagonal(gram);
  system += scale * WithRidge(gram, kCoefficientShare);
  const Eigen::LLT<MatrixD> factor = Factor(system);
  return {factor.solve(a * first), 1.0 / factor.rcond()};
}

}  // namespace

std::shared_ptr<const FeatureMap> MakeFourierFeatures(const EpisodeBatch& log,
                                                      const Estimand& estimand,
                                                      const FourierOptions& options,
                                                      std::uint64_t seed) {
  const LoggedRows rows = RowsOf(log, NonEmptyEpisodes(log), estimand);
  if (rows.size() == 0) Throw<DataError>("fourier features: the log has no steps, expected some");
  return std::make_shared<FourierFeatures>(StatesAndActions(log, rows, IndexList(rows.size())),
                                           estimand.horizon.value_or(1), options,
                                           Stream(seed, "fourier features"));
}

LinearValues FitLinearValues(const LoggedProblem& logged,
                             std::shared_ptr<const FeatureMap> features,
                             const LinearValueOptions& options, std::uint64_t seed) {
  const EpisodeBatch& log = logged.log;
  const Estimand& estimand = logged.estimand;
  RequireDiscount(estimand);
  const std::vector<std::int64_t> episodes = NonEmptyEpisodes(log);
  const LoggedRows rows = RowsOf(log, episodes, estimand);
  if (rows.size() == 0) Throw<DataError>("linear values: the log has no steps, expected some");
  const LinearValueProblem problem{.logged = logged,
                                   .log = log,
                                   .features = *features,
                                   .rows = rows,
                                   .carried = CarriedSteps(rows, estimand),
                                   .draws = options.target_draws,
                                   .steps = estimand.horizon.value_or(1),
                                   .seed = seed};
  const Moments sums = MomentsOf(problem);
  const VectorD first = FirstFeatures(problem, episodes);

  // expectations: of each step over episodes, or over all rows
  const bool finite = estimand.horizon.has_value();
  const double scale = 1.0 / static_cast<double>(finite ? std::ssize(episodes) : rows.size());
  const MatrixD gram = scale * sums.gram, cross = scale * sums.cross;
  const Solution q =
      SolveValues(gram, gram - estimand.discount * cross, scale * sums.reward, options.ridge);
  const double flow = finite ? 1.0 : estimand.discount;
  const Solution weights =
      SolveWeights(gram, gram - flow * cross, finite ? first : VectorD((1.0 - flow) * first),
                   options.weight_penalty);

  return {.features = std::move(features),
          .q = q.x,
          .weights = weights.x,
          .q_condition = q.condition,
          .weight_condition = weights.condition,
          .value = first.dot(q.x),
          .mean_weight = scale * sums.carried.dot(weights.x) / static_cast<double>(problem.steps)};
}

ValueArrays LinearQValues(const LinearValues& fit, const LoggedProblem& problem,
                          std::span<const std::int64_t> episodes, std::int64_t columns,
                          const LinearValueOptions& options, std::uint64_t seed) {
  const auto q = [&](const ConstMatrixRef& pairs, std::span<const std::int64_t> steps,
                     std::span<double> values) {
    Eigen::Map<VectorD>(values.data(), std::ssize(values)) =
        FeaturesOf(*fit.features, pairs, steps) * fit.q;
  };
  return ValuesOnLog(q, problem, episodes, columns, options.value_draws,
                     Stream(seed, "linear value draws"));
}

Array<double, 2> LinearWeights(const LinearValues& fit, const EpisodeBatch& log,
                               std::span<const std::int64_t> episodes, const Estimand& estimand,
                               std::int64_t columns) {
  Array<double, 2> out({std::ssize(episodes), columns});
  ParallelFor(std::ssize(episodes), [&](std::int64_t i) {
    const std::array<std::int64_t, 1> one = {episodes[static_cast<std::size_t>(i)]};
    const LoggedRows rows = RowsOf(log, one, estimand);
    const VectorD weights =
        FeaturesOf(*fit.features, StatesAndActions(log, rows, IndexList(rows.size())), rows.step) *
        fit.weights;
    std::copy_n(weights.data(), weights.size(), out.Row(i).begin());
  });
  return out;
}

}  // namespace lfiw::ope
