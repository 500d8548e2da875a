#include "experiments/calibration/verdict_cases.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/rng.h"

namespace lfiw::experiments {
namespace {

constexpr std::uint64_t kDraws = 1000;
constexpr double kBarelyStable = 0.99;

MatrixD NormalMatrix(Eigen::Index rows, Eigen::Index cols, double deviation, Stream& stream) {
  MatrixD matrix(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < cols; ++j) matrix(i, j) = deviation * stream.Normal();
  }
  return matrix;
}

VectorD NormalVector(Eigen::Index size, double deviation, Stream& stream) {
  return NormalMatrix(size, 1, deviation, stream);
}

MatrixD Diagonal(Eigen::Index size, double low, double high, Stream& stream) {
  MatrixD matrix = MatrixD::Zero(size, size);
  for (Eigen::Index i = 0; i < size; ++i) matrix(i, i) = stream.Uniform(low, high);
  return matrix;
}

MatrixD Squared(const MatrixD& diagonal) { return diagonal * diagonal; }

double SpectralRadius(const MatrixD& matrix) {
  return Eigen::EigenSolver<Eigen::MatrixXd>(matrix, false).eigenvalues().cwiseAbs().maxCoeff();
}

MatrixD ClosedLoop(const LinearGaussianSystem& system, const LinearGaussianPolicy& policy) {
  return system.state_matrix + system.action_matrix * policy.gain;
}

// Draws a random matrix of the given spectral radius.
MatrixD MatrixOfRadius(Eigen::Index size, double radius, Stream& stream) {
  const MatrixD matrix = NormalMatrix(size, size, 1.0, stream);
  return (radius / SpectralRadius(matrix)) * matrix;
}

LinearGaussianSystem DrawSystem(Stream& stream) {
  const auto n = static_cast<Eigen::Index>(1 + stream.Below(4));
  const auto m = static_cast<Eigen::Index>(1 + stream.Below(2));
  LinearGaussianSystem system = ZeroLinearGaussian(n, m);
  system.state_matrix = MatrixOfRadius(n, stream.Uniform(0.4, 0.9), stream);
  system.action_matrix = NormalMatrix(n, m, 0.5, stream);
  system.offset = NormalVector(n, 0.1, stream);
  system.noise_covariance = Squared(Diagonal(n, 0.05, 0.5, stream));
  system.initial_mean = NormalVector(n, 1.0, stream);
  system.initial_covariance = Squared(Diagonal(n, 0.1, 1.0, stream));
  system.state_cost = Diagonal(n, 0.1, 1.0, stream);
  system.action_cost = Diagonal(m, 0.05, 0.3, stream);
  system.state_reward = NormalVector(n, 0.3, stream);
  return system;
}

// Draws a policy under which the system has a spectral radius of at most 0.95.
LinearGaussianPolicy DrawBehavior(const LinearGaussianSystem& system, Stream& stream) {
  const std::int64_t n = system.state_dim(), m = system.action_dim();
  LinearGaussianPolicy policy{NormalMatrix(m, n, 0.3, stream), NormalVector(m, 0.3, stream),
                              Squared(Diagonal(m, 0.3, 0.8, stream))};
  while (SpectralRadius(ClosedLoop(system, policy)) > 0.95) policy.gain *= 0.5;
  return policy;
}

// Draws a policy whose actions are within those of another one.
LinearGaussianPolicy DrawNear(const LinearGaussianSystem& system,
                              const LinearGaussianPolicy& behavior, Stream& stream) {
  LinearGaussianPolicy policy = behavior;
  const double shrink = stream.Uniform(0.6, 1.0);
  policy.covariance *= shrink * shrink;
  MatrixD change = NormalMatrix(policy.gain.rows(), policy.gain.cols(), 0.1, stream);
  policy.gain += change;
  while (SpectralRadius(ClosedLoop(system, policy)) > 0.95) {
    change *= 0.5;
    policy.gain = behavior.gain + change;
  }
  policy.offset += NormalVector(policy.offset.size(), 0.1, stream);
  return policy;
}

// The mean and covariance of the state at one step.
struct Moments {
  VectorD mean;
  MatrixD covariance;
};

std::vector<Moments> StateMoments(const LinearGaussianSystem& system,
                                  const LinearGaussianPolicy& policy, std::int64_t horizon) {
  const MatrixD loop = ClosedLoop(system, policy);
  const MatrixD noise = system.noise_covariance +
                        system.action_matrix * policy.covariance * system.action_matrix.transpose();
  std::vector<Moments> steps = {{system.initial_mean, system.initial_covariance}};
  while (std::ssize(steps) < horizon) {
    const Moments& last = steps.back();
    steps.push_back({loop * last.mean + system.offset + system.action_matrix * policy.offset,
                     loop * last.covariance * loop.transpose() + noise});
  }
  return steps;
}

double NormalTail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

// Returns the share of steps at which some action's mean is expected beyond three deviations of the
// logged.
double GapShare(const VerdictCase& c) {
  const MatrixD gain = c.evaluation.gain - c.behavior.gain;
  const VectorD offset = c.evaluation.offset - c.behavior.offset;
  double sum = 0.0;
  for (const Moments& x : StateMoments(c.system, c.evaluation, c.horizon)) {
    double share = 0.0;
    for (Eigen::Index j = 0; j < offset.size(); ++j) {
      const double mean = gain.row(j).dot(x.mean) + offset(j);
      const double variance = gain.row(j) * x.covariance * gain.row(j).transpose();
      const double deviation = std::sqrt(std::max(variance, 1e-12));
      const double limit = 3.0 * std::sqrt(c.behavior.covariance(j, j));
      share = std::max(
          share, NormalTail((limit - mean) / deviation) + NormalTail((limit + mean) / deviation));
    }
    sum += share;
  }
  return sum / static_cast<double>(c.horizon);
}

double ValueIn(const LinearGaussianSystem& system, const LinearGaussianPolicy& policy,
               std::int64_t horizon) {
  return FiniteHorizonValue(system, policy, horizon, 1.0)
      .Expected(system.initial_mean, system.initial_covariance);
}

double RelativeBias(const VerdictCase& c) {
  const double truth = c.Truth();
  return std::abs(ValueIn(*c.believed, c.evaluation, c.horizon) - truth) / std::abs(truth);
}

// Returns the KL divergence of whole episodes of the evaluation policy, true from believed system;
// both have the same noise.
double EpisodeDivergence(const VerdictCase& c) {
  const LinearGaussianSystem& system = c.system;
  const MatrixD precision = system.noise_covariance.inverse();
  const MatrixD by_state = system.state_matrix - c.believed->state_matrix;
  const MatrixD by_action = system.action_matrix - c.believed->action_matrix;
  const MatrixD loop = by_state + by_action * c.evaluation.gain;
  const VectorD offset = system.offset - c.believed->offset + by_action * c.evaluation.offset;
  const MatrixD noise = by_action * c.evaluation.covariance * by_action.transpose();
  double sum = 0.0;
  for (const Moments& x : StateMoments(system, c.evaluation, c.horizon)) {
    const VectorD mean = loop * x.mean + offset;
    const MatrixD covariance = loop * x.covariance * loop.transpose() + noise;
    sum += 0.5 * ((precision * covariance).trace() + mean.dot(precision * mean));
  }
  return sum;
}

double LoopRadius(const VerdictCase& c) {
  return SpectralRadius(ClosedLoop(c.system, c.evaluation));
}

double Reach(const VerdictCase& c) {
  return static_cast<double>(c.horizon) / static_cast<double>(c.logged_steps);
}

void PlantGap(VerdictCase& c, Stream& stream) {
  const Eigen::Index m = c.behavior.offset.size();
  const LinearGaussianSystem& system = c.system;
  if (c.plant != PlantedFailure::kStateGap) {
    const double distance =
        c.plant == PlantedFailure::kMildGap ? stream.Uniform(0.5, 1.5) : stream.Uniform(3.0, 8.0);
    c.evaluation.offset += NormalVector(m, distance, stream);
    return;
  }
  // towards a loop that is stable too, by large gains
  c.evaluation.gain += NormalMatrix(m, system.state_dim(), stream.Uniform(2.0, 6.0), stream);
}

// Returns the system as it is for whom the states are recorded in other units.
LinearGaussianSystem Rescaled(const LinearGaussianSystem& system, const VectorD& factors) {
  const MatrixD scale = factors.asDiagonal();
  LinearGaussianSystem out = system;
  out.state_matrix = scale * system.state_matrix * scale.inverse();
  out.action_matrix = scale * system.action_matrix;
  out.offset = scale * system.offset;
  out.noise_covariance = scale * system.noise_covariance * scale;
  return out;
}

void PlantOtherSystem(VerdictCase& c, Stream& stream) {
  const LinearGaussianSystem& system = c.system;
  const std::int64_t n = system.state_dim(), m = system.action_dim();
  c.believed = system;
  c.believed->state_matrix = MatrixOfRadius(n, stream.Uniform(0.4, 0.9), stream);
  c.believed->action_matrix = NormalMatrix(n, m, 0.5, stream);
  c.believed->offset = NormalVector(n, 0.2, stream);
}

void PlantRescaledState(VerdictCase& c, Stream& stream) {
  const LinearGaussianSystem& system = c.system;
  c.rescale = VectorD::Ones(system.state_dim());
  const auto which =
      static_cast<Eigen::Index>(stream.Below(static_cast<std::uint64_t>(system.state_dim())));
  const double factor = stream.Uniform(2.0, 5.0);
  c.rescale(which) = stream.Below(2) == 0 ? factor : 1.0 / factor;
  c.believed = Rescaled(system, c.rescale);
}

void PlantDegenerateWeights(VerdictCase& c, Stream& stream) {
  c.believed = c.system;
  const std::int64_t n = c.believed->state_dim();
  c.believed->state_matrix += NormalMatrix(n, n, 0.15, stream);
  c.believed->action_matrix += NormalMatrix(n, c.believed->action_dim(), 0.15, stream);
  c.believed->offset += NormalVector(n, 0.15, stream);
  c.horizon = c.logged_steps = 30 + static_cast<std::int64_t>(stream.Below(21));
}

// Makes the loop of the evaluation policy all but unstable; the behavior policy's differs little.
void PlantBeyondLog(VerdictCase& c, Stream& stream) {
  LinearGaussianSystem& system = c.system;
  const double radius = stream.Uniform(kBarelyStable, 1.02);
  system.state_matrix =
      MatrixOfRadius(system.state_dim(), radius, stream) - system.action_matrix * c.evaluation.gain;
  c.logged_steps = 8 + static_cast<std::int64_t>(stream.Below(8));
  c.horizon = c.logged_steps * (8 + static_cast<std::int64_t>(stream.Below(8)));
}

void AddPlant(VerdictCase& c, Stream& stream) {
  switch (c.plant) {
    case PlantedFailure::kNone:
      return;
    case PlantedFailure::kShortFit:
      c.gradient_steps = 100 + static_cast<std::int64_t>(stream.Below(200));
      return;
    case PlantedFailure::kMildGap:
    case PlantedFailure::kConstantGap:
    case PlantedFailure::kStateGap:
      return PlantGap(c, stream);
    case PlantedFailure::kOtherSystem:
      return PlantOtherSystem(c, stream);
    case PlantedFailure::kRescaledState:
      return PlantRescaledState(c, stream);
    case PlantedFailure::kFewSteps:
      c.gradient_steps = 1 + static_cast<std::int64_t>(stream.Below(10));
      return;
    case PlantedFailure::kDegenerateWeights:
      return PlantDegenerateWeights(c, stream);
    case PlantedFailure::kLongMixing:
      c.horizon = c.logged_steps * (5 + static_cast<std::int64_t>(stream.Below(4)));
      return;
    case PlantedFailure::kBeyondLog:
      return PlantBeyondLog(c, stream);
  }
}

// Says whether the loop does not run away, which would be another failure than the one planted.
bool IsTame(const VerdictCase& c) {
  if (c.plant == PlantedFailure::kBeyondLog) return true;
  const auto stable = [&](const LinearGaussianSystem& system) {
    return SpectralRadius(ClosedLoop(system, c.evaluation)) <= 0.98;
  };
  return stable(c.system) && (!c.believed || stable(*c.believed));
}

}  // namespace

double VerdictCase::Truth() const { return ValueIn(system, evaluation, horizon); }

double PlantStrength(const VerdictCase& c) {
  switch (c.plant) {
    case PlantedFailure::kNone:
      return 0.0;
    case PlantedFailure::kMildGap:
    case PlantedFailure::kConstantGap:
    case PlantedFailure::kStateGap:
      return GapShare(c);
    case PlantedFailure::kOtherSystem:
    case PlantedFailure::kRescaledState:
      return RelativeBias(c);
    case PlantedFailure::kShortFit:
    case PlantedFailure::kFewSteps:
      return 1.0 / static_cast<double>(c.gradient_steps);
    case PlantedFailure::kDegenerateWeights:
      return EpisodeDivergence(c);
    case PlantedFailure::kLongMixing:
      return LoopRadius(c) > 0.9 ? 0.0 : Reach(c);
    case PlantedFailure::kBeyondLog:
      break;
  }
  return LoopRadius(c) < kBarelyStable - 1e-9 ? 0.0 : Reach(c);
}

double RequiredStrength(PlantedFailure plant) {
  static constexpr std::array kRequired = {0.0, 1.0 / 300.0, 0.1, 5.0,  0.6, 0.6,
                                           0.5, 0.5,         0.1, 15.0, 8.0};
  static_assert(kRequired.size() == EnumNames(PlantedFailure{}).size());
  return kRequired[static_cast<std::size_t>(plant)];
}

VerdictCase DrawCase(CaseKind kind, PlantedFailure plant, std::uint64_t seed, std::uint64_t index) {
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    Stream stream(seed, "verdict case", {index, draw});
    VerdictCase c{.kind = kind, .plant = plant};
    c.system = DrawSystem(stream);
    c.horizon = c.logged_steps = 10 + static_cast<std::int64_t>(stream.Below(21));
    c.behavior = DrawBehavior(c.system, stream);
    c.evaluation = DrawNear(c.system, c.behavior, stream);
    AddPlant(c, stream);
    if (IsTame(c) && PlantStrength(c) >= RequiredStrength(plant)) return c;
  }
  Throw<NumericError>(
      "verdict case {} of {}: {} draws of {} were too weak, expected one of at "
      "least {}; take another seed",
      index, seed, kDraws, EnumName(plant), RequiredStrength(plant));
}

}  // namespace lfiw::experiments
