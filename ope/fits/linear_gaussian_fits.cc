#include "ope/fits/linear_gaussian_fits.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"

namespace lfiw::ope {
namespace {

using Dense = Eigen::MatrixXd;

// Least squares; where columns depend on each other the smallest solution.
Dense LeastSquares(const Dense& design, const Dense& targets) {
  return design.completeOrthogonalDecomposition().solve(targets);
}

bool PositiveDefinite(const MatrixD& covariance) {
  return Eigen::LLT<Dense>(covariance).info() == Eigen::Success;
}

// A centered normal density up to the constant that all of its dimension share.
class NormalDensity {
 public:
  explicit NormalDensity(const MatrixD& covariance)
      : root_(covariance),
        half_log_determinant_(root_.matrixLLT().diagonal().array().log().sum()) {}

  bool proper() const { return root_.info() == Eigen::Success; }
  double Log(const VectorD& residual) const {
    return -0.5 * root_.matrixL().solve(residual).squaredNorm() - half_log_determinant_;
  }

 private:
  Eigen::LLT<Dense> root_;
  double half_log_determinant_;
};

// Mean and covariance (per degree of freedom) of the logged states at t.
StateMoments LoggedMoments(const LinearGaussianLog& log, std::int64_t t) {
  const Eigen::Index dim = log.states.shape()[2];
  const auto n = static_cast<double>(log.episodes());
  StateMoments moments{VectorD::Zero(dim), MatrixD::Zero(dim, dim)};
  for (std::int64_t i = 0; i < log.episodes(); ++i) moments.mean += log.State(i, t) / n;
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    const VectorD deviation = log.State(i, t) - moments.mean;
    moments.covariance += deviation * deviation.transpose() / std::max(1.0, n - 1.0);
  }
  return moments;
}

// Log-ratios at the logged states from t = 1 on, `wanted` over `logged` moments.
Array<double, 2> MomentLogRatios(const std::vector<StateMoments>& wanted,
                                 const std::vector<StateMoments>& logged,
                                 const LinearGaussianLog& log) {
  Array<double, 2> ratios({log.episodes(), log.steps()});
  for (std::int64_t t = 1; t < log.steps(); ++t) {
    const auto step = static_cast<std::size_t>(t);
    const NormalDensity above(wanted[step].covariance), below(logged[step].covariance);
    if (!above.proper() || !below.proper()) {
      Throw<NumericError>(
          "linear-Gaussian log: the states' covariance at step {} is singular, so their density "
          "has no ratio; expected noise in every direction and more episodes than dimensions",
          t);
    }
    for (std::int64_t i = 0; i < log.episodes(); ++i) {
      const VectorD state = log.State(i, t);
      ratios(i, t) = above.Log(state - wanted[step].mean) - below.Log(state - logged[step].mean);
    }
  }
  return ratios;
}

// E[1, z_i, z_i z_j (i <= j)] of z with the given mean and covariance.
VectorD Features(const VectorD& mean, const MatrixD& covariance) {
  const Eigen::Index dim = mean.size();
  VectorD features(1 + dim + dim * (dim + 1) / 2);
  features(0) = 1.0;
  features.segment(1, dim) = mean;
  Eigen::Index k = 1 + dim;
  for (Eigen::Index i = 0; i < dim; ++i) {
    for (Eigen::Index j = i; j < dim; ++j) features(k++) = mean(i) * mean(j) + covariance(i, j);
  }
  return features;
}

// Features of logged steps, and their means over the evaluation policy's actions.
class FeatureSource {
 public:
  FeatureSource(const LinearGaussianLog& log, const LinearGaussianPolicy& policy)
      : log_(log), policy_(policy) {
    const Eigen::Index n = log.states.shape()[2], m = log.actions.shape()[2];
    known_ = MatrixD::Zero(n + m, n + m);
    drawn_ = known_;
    drawn_.bottomRightCorner(m, m) = policy.covariance;
  }

  Eigen::Index count() const {
    return QuadraticFeatures(log_.states.shape()[2], log_.actions.shape()[2]);
  }
  VectorD Logged(std::int64_t i, std::int64_t t) const {
    return Features(Join(log_.State(i, t), log_.Action(i, t)), known_);
  }
  VectorD Expected(std::int64_t i, std::int64_t t) const {
    const VectorD state = log_.State(i, t);
    return Features(Join(state, policy_.gain * state + policy_.offset), drawn_);
  }

 private:
  static VectorD Join(const VectorD& state, const VectorD& action) {
    VectorD joined(state.size() + action.size());
    joined << state, action;
    return joined;
  }

  const LinearGaussianLog& log_;
  const LinearGaussianPolicy& policy_;
  MatrixD known_, drawn_;  // covariances of (x, u) given x and u, and given x
};

void RequireRows(std::int64_t rows, std::int64_t unknowns, std::string_view what) {
  if (rows >= unknowns) return;
  Throw<DataError>("linear-Gaussian log: {} {} for {} unknowns, expected at least as many", rows,
                   what, unknowns);
}

ValueArrays EmptyValues(const LinearGaussianLog& log) {
  return {Array<double, 2>({log.episodes(), log.steps()}),
          Array<double, 2>({log.episodes(), log.steps() + 1}),
          {}};
}

ValueArrays FiniteFqe(const LinearGaussianLog& log, const FeatureSource& features,
                      double discount) {
  const std::int64_t n = log.episodes();
  RequireRows(n, features.count(), "episodes");
  ValueArrays values = EmptyValues(log);
  Dense design(n, features.count());
  VectorD targets(n);
  for (std::int64_t t = log.steps(); t-- > 0;) {
    for (std::int64_t i = 0; i < n; ++i) {
      design.row(i) = features.Logged(i, t);
      targets(i) = log.rewards(i, t) + discount * values.v(i, t + 1);
    }
    const VectorD weights = LeastSquares(design, targets);
    for (std::int64_t i = 0; i < n; ++i) {
      values.q(i, t) = design.row(i).dot(weights);
      values.v(i, t) = features.Expected(i, t).dot(weights);
    }
  }
  return values;
}

// w of Phi' (Phi - g Phi_next) w = Phi' r, the fixed point of regressing on one's own targets.
VectorD FixedPointWeights(const LinearGaussianLog& log, const FeatureSource& features,
                          double discount) {
  Dense equations = Dense::Zero(features.count(), features.count());
  VectorD rewards = VectorD::Zero(features.count());
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    for (std::int64_t t = 0; t < log.steps(); ++t) {
      const VectorD logged = features.Logged(i, t);
      equations += logged * (logged - discount * features.Expected(i, t + 1)).transpose();
      rewards += logged * log.rewards(i, t);
    }
  }
  return LeastSquares(equations, rewards);
}

ValueArrays InfiniteFqe(const LinearGaussianLog& log, const FeatureSource& features,
                        double discount) {
  RequireRows(log.episodes() * log.steps(), features.count(), "transitions");
  const VectorD weights = FixedPointWeights(log, features, discount);
  ValueArrays values = EmptyValues(log);
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    for (std::int64_t t = 0; t <= log.steps(); ++t) {
      values.v(i, t) = features.Expected(i, t).dot(weights);
      if (t < log.steps()) values.q(i, t) = features.Logged(i, t).dot(weights);
    }
  }
  return values;
}

Array<double, 2> FiniteWeights(const LinearGaussianLog& log, const FeatureSource& features) {
  const std::int64_t n = log.episodes();
  RequireRows(n, features.count(), "episodes");
  Array<double, 2> weights({n, log.steps()});
  Dense design(n, features.count());
  for (std::int64_t t = 0; t < log.steps(); ++t) {
    VectorD flow = VectorD::Zero(features.count());
    for (std::int64_t i = 0; i < n; ++i) {
      design.row(i) = features.Logged(i, t);
      flow += (t == 0 ? 1.0 : weights(i, t - 1)) * features.Expected(i, t);
    }
    const VectorD w = design * LeastSquares(design.transpose() * design, flow);
    for (std::int64_t i = 0; i < n; ++i) weights(i, t) = w(i);
  }
  return weights;
}

Array<double, 2> InfiniteWeights(const LinearGaussianLog& log, const FeatureSource& features,
                                 double discount) {
  const std::int64_t n = log.episodes();
  RequireRows(n * log.steps(), features.count(), "transitions");
  Dense equations = Dense::Zero(features.count(), features.count());
  VectorD first = VectorD::Zero(features.count());
  for (std::int64_t i = 0; i < n; ++i) {
    first += (1.0 - discount) * static_cast<double>(log.steps()) * features.Expected(i, 0);
    for (std::int64_t t = 0; t < log.steps(); ++t) {
      const VectorD logged = features.Logged(i, t);
      equations += (logged - discount * features.Expected(i, t + 1)) * logged.transpose();
    }
  }
  const VectorD alpha = LeastSquares(equations, first);
  Array<double, 2> weights({n, log.steps()});
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t t = 0; t < log.steps(); ++t) {
      weights(i, t) = features.Logged(i, t).dot(alpha);
    }
  }
  return weights;
}

// E[r + g next(x')] of a step in the model.
double LookAhead(const LinearGaussianSystem& model, const QuadraticValue& next, double discount,
                 const VectorD& state, const VectorD& action) {
  const VectorD mean = model.state_matrix * state + model.action_matrix * action + model.offset;
  return LinearGaussianReward(model, state, action, mean) +
         discount * next.Expected(mean, model.noise_covariance);
}

// The first `steps` steps.
LinearGaussianLog FirstSteps(const LinearGaussianLog& log, std::int64_t steps) {
  if (log.steps() < steps) {
    Throw<DataError>(
        "linear-Gaussian log: episodes have {} steps, expected at least the horizon "
        "of {}",
        log.steps(), steps);
  }
  const std::int64_t n = log.episodes();
  LinearGaussianLog out{Array<double, 3>({n, steps + 1, log.states.shape()[2]}),
                        Array<double, 3>({n, steps, log.actions.shape()[2]}),
                        Array<double, 2>({n, steps})};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t t = 0; t <= steps; ++t) {
      std::ranges::copy(log.states.Row(i, t), out.states.Row(i, t).begin());
      if (t == steps) continue;
      std::ranges::copy(log.actions.Row(i, t), out.actions.Row(i, t).begin());
      out.rewards(i, t) = log.rewards(i, t);
    }
  }
  return out;
}

void AddRollouts(const LinearGaussianSystem& system, const LinearGaussianSystem& model,
                 const LinearGaussianPolicy& evaluation, std::int64_t steps,
                 const ModelRolloutCounts& counts, std::uint64_t seed, FittedArrays& in) {
  const std::int64_t repetitions = counts.repetitions, n = counts.episodes;
  const TransitionLogRatio ratio(system, model);
  const LinearGaussianLog rollouts = SampleLog(model, evaluation, repetitions * n, steps,
                                               Stream(seed, "rollouts in a linear model"));
  in.model_rewards = Array<double, 3>({repetitions, n, steps});
  in.model_log_weights = Array<double, 4>({repetitions, 1, n, steps});
  std::ranges::copy(rollouts.rewards.flat(), in.model_rewards.flat().begin());
  for (std::int64_t i = 0; i < repetitions * n; ++i) {
    for (std::int64_t t = 0; t < steps; ++t) {
      in.model_log_weights(i / n, 0, i % n, t) =
          ratio(rollouts.State(i, t), rollouts.Action(i, t), rollouts.State(i, t + 1));
    }
  }
}

// Why quadratic features cannot be fitted; empty if they can.
std::string TooFewRows(const LinearGaussianSource& source) {
  const LinearGaussianLog& log = source.log;
  const std::int64_t features = QuadraticFeatures(log.states.shape()[2], log.actions.shape()[2]);
  const bool finite = source.estimand.horizon.has_value();
  const std::int64_t rows = finite ? log.episodes() : log.episodes() * log.steps();
  if (rows >= features) return "";
  return fmt::format("there are {} features of states and actions, more than the log's {} {}",
                     features, rows, finite ? "episodes" : "transitions");
}

}  // namespace

LinearGaussianSystem FitLinearGaussian(const LinearGaussianLog& log,
                                       const LinearGaussianSystem& system) {
  const Eigen::Index n = system.state_dim(), m = system.action_dim(), unknowns = n + m + 1;
  const std::int64_t rows = log.episodes() * log.steps();
  RequireRows(rows, unknowns + 1, "transitions");
  Dense design(rows, unknowns), targets(rows, n);
  for (std::int64_t i = 0, row = 0; i < log.episodes(); ++i) {
    for (std::int64_t t = 0; t < log.steps(); ++t, ++row) {
      design.row(row) << log.State(i, t).transpose(), log.Action(i, t).transpose(), 1.0;
      targets.row(row) = log.State(i, t + 1);
    }
  }
  const Dense weights = LeastSquares(design, targets);
  const Dense residuals = targets - design * weights;
  LinearGaussianSystem fitted = system;
  fitted.state_matrix = weights.topRows(n).transpose();
  fitted.action_matrix = weights.middleRows(n, m).transpose();
  fitted.offset = weights.row(n + m).transpose();
  fitted.noise_covariance =
      residuals.transpose() * residuals / static_cast<double>(rows - unknowns);
  StateMoments first = LoggedMoments(log, 0);
  fitted.initial_mean = std::move(first.mean);
  fitted.initial_covariance = std::move(first.covariance);
  return fitted;
}

ValueArrays LinearGaussianValues(const LinearGaussianSystem& model,
                                 const LinearGaussianPolicy& evaluation,
                                 const LinearGaussianLog& log, const Estimand& estimand) {
  // value from step t on
  const auto from = [&](std::int64_t t) {
    return estimand.horizon
               ? FiniteHorizonValue(model, evaluation, *estimand.horizon - t, estimand.discount)
               : InfiniteHorizonValue(model, evaluation, estimand.discount);
  };
  ValueArrays values = EmptyValues(log);
  QuadraticValue next = from(log.steps());
  for (std::int64_t t = log.steps(); t >= 0; --t) {
    const QuadraticValue now = from(t);
    for (std::int64_t i = 0; i < log.episodes(); ++i) {
      values.v(i, t) = now(log.State(i, t));
      if (t == log.steps()) continue;
      values.q(i, t) = LookAhead(model, next, estimand.discount, log.State(i, t), log.Action(i, t));
    }
    next = now;
  }
  values.v_fit = values.v;
  return values;
}

std::int64_t QuadraticFeatures(std::int64_t state_dim, std::int64_t action_dim) {
  const std::int64_t dim = state_dim + action_dim;
  return (dim + 1) * (dim + 2) / 2;
}

ValueArrays QuadraticFqeValues(const LinearGaussianLog& log, const LinearGaussianPolicy& evaluation,
                               const Estimand& estimand) {
  const FeatureSource features(log, evaluation);
  return estimand.horizon ? FiniteFqe(log, features, estimand.discount)
                          : InfiniteFqe(log, features, estimand.discount);
}

Array<double, 2> QuadraticWeights(const LinearGaussianLog& log,
                                  const LinearGaussianPolicy& evaluation,
                                  const Estimand& estimand) {
  const FeatureSource features(log, evaluation);
  return estimand.horizon ? FiniteWeights(log, features)
                          : InfiniteWeights(log, features, estimand.discount);
}

Array<double, 2> ActionLogRatios(const LinearGaussianPolicy& behavior,
                                 const LinearGaussianPolicy& evaluation,
                                 const LinearGaussianLog& log) {
  if (!PositiveDefinite(behavior.covariance) || !PositiveDefinite(evaluation.covariance)) {
    Throw<PolicyError>(
        "linear-Gaussian policy: a covariance is singular, expected positive definite ones for a "
        "density ratio of actions");
  }
  const NormalDensity above(evaluation.covariance), below(behavior.covariance);
  Array<double, 2> ratios({log.episodes(), log.steps()});
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    for (std::int64_t t = 0; t < log.steps(); ++t) {
      const VectorD state = log.State(i, t), action = log.Action(i, t);
      ratios(i, t) = above.Log(action - evaluation.gain * state - evaluation.offset) -
                     below.Log(action - behavior.gain * state - behavior.offset);
    }
  }
  return ratios;
}

Array<double, 2> VisitationLogRatios(const LinearGaussianSystem& system,
                                     const LinearGaussianPolicy& behavior,
                                     const LinearGaussianPolicy& evaluation,
                                     const LinearGaussianLog& log) {
  return MomentLogRatios(StateDistributions(system, evaluation, log.steps()),
                         StateDistributions(system, behavior, log.steps()), log);
}

Array<double, 2> ModelVisitationLogRatios(const LinearGaussianSystem& model,
                                          const LinearGaussianPolicy& evaluation,
                                          const LinearGaussianLog& log) {
  std::vector<StateMoments> logged;
  for (std::int64_t t = 0; t < log.steps(); ++t) logged.push_back(LoggedMoments(log, t));
  return MomentLogRatios(StateDistributions(model, evaluation, log.steps()), logged, log);
}

LinearGaussianSource::LinearGaussianSource(const LinearGaussianSystem& of,
                                           const LinearGaussianPolicy& logs,
                                           const LinearGaussianPolicy& evaluated,
                                           const LinearGaussianLog& episodes, const Estimand& value,
                                           const ModelRolloutCounts& draw, std::uint64_t root)
    : system(of),
      behavior(logs),
      evaluation(evaluated),
      log(FirstSteps(episodes, value.horizon.value_or(episodes.steps()))),
      model(FitLinearGaussian(log, of)),
      estimand(value),
      counts(draw),
      seed(root) {}

const ValueArrays& LinearGaussianSource::FittedQ() const {
  if (!q_) q_ = QuadraticFqeValues(log, evaluation, estimand);
  return *q_;
}

FittedArrays LinearGaussianActionRatios(const LinearGaussianSource& source) {
  FittedArrays out;
  if (PositiveDefinite(source.behavior.covariance) &&
      PositiveDefinite(source.evaluation.covariance)) {
    out.log_ratios["action"] = ActionLogRatios(source.behavior, source.evaluation, source.log);
  } else {
    out.missing["action"] =
        "a policy is deterministic in some direction, so its actions have no density ratio; use "
        "fqe, the model or lfiw";
  }
  return out;
}

FittedArrays QuadraticQ(const LinearGaussianSource& source, const std::string& name) {
  FittedArrays out;
  if (std::string why = TooFewRows(source); !why.empty()) {
    out.missing[name] = std::move(why);
  } else {
    out.values[name] = source.FittedQ();
  }
  return out;
}

FittedArrays QuadraticMarginalWeights(const LinearGaussianSource& source) {
  FittedArrays out;
  if (std::string why = TooFewRows(source); !why.empty()) {
    out.missing["mwl"] = std::move(why);
  } else {
    out.weights["mwl"] = QuadraticWeights(source.log, source.evaluation, source.estimand);
  }
  return out;
}

FittedArrays LinearGaussianModelValues(const LinearGaussianSource& source) {
  FittedArrays out;
  out.values["model"] =
      LinearGaussianValues(source.model, source.evaluation, source.log, source.estimand);
  out.log_ratios["model_visitation"] =
      ModelVisitationLogRatios(source.model, source.evaluation, source.log);
  out.model_alive.assign(static_cast<std::size_t>(source.log.steps()), 1.0);
  return out;
}

FittedArrays LinearGaussianRollouts(const LinearGaussianSource& source) {
  FittedArrays out;
  if (source.estimand.horizon) {
    AddRollouts(source.system, source.model, source.evaluation, source.log.steps(), source.counts,
                source.seed, out);
  } else {
    out.missing["rollouts"] = "rollouts of a linear model have an end; set value.horizon";
  }
  return out;
}

}  // namespace lfiw::ope
