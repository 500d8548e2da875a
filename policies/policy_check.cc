#include "policies/policy_check.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"

namespace lfiw::policies {
namespace {

constexpr std::int64_t kBlockRows = 256;

// Squashed actions that rounding has gathered next to the end of [-1, 1] stand for the end.
double SnapToEnd(float extreme) {
  const auto value = static_cast<double>(extreme);
  const double distance = 1.0 - std::abs(value);
  return distance > 0.0 && distance < 1e-6 ? std::copysign(1.0, value) : value;
}

}  // namespace

ActionBounds BoundsOfActions(ConstMatrixRef actions) {
  ActionRange range;
  range.Add(actions);
  return range.Bounds();
}

void ActionRange::Add(ConstMatrixRef actions) {
  low_.resize(static_cast<std::size_t>(actions.cols()));
  high_.resize(low_.size());
  if (actions.rows() == 0) return;
  for (Eigen::Index j = 0; j < actions.cols(); ++j) {
    Extreme& low = low_[static_cast<std::size_t>(j)];
    Extreme& high = high_[static_cast<std::size_t>(j)];
    const float least = actions.col(j).minCoeff(), most = actions.col(j).maxCoeff();
    if (low.rows == 0 || least < low.value) low = {least, 0};
    if (high.rows == 0 || most > high.value) high = {most, 0};
    low.rows += (actions.col(j).array() == low.value).count();
    high.rows += (actions.col(j).array() == high.value).count();
  }
}

ActionBounds ActionRange::Bounds() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto dims = static_cast<Eigen::Index>(low_.size());
  ActionBounds bounds{VectorD::Constant(dims, -kInfinity), VectorD::Constant(dims, kInfinity)};
  for (Eigen::Index j = 0; j < dims; ++j) {
    const Extreme& low = low_[static_cast<std::size_t>(j)];
    const Extreme& high = high_[static_cast<std::size_t>(j)];
    if (low.value == high.value) continue;
    if (low.rows > 1) bounds.low[j] = SnapToEnd(low.value);
    if (high.rows > 1) bounds.high[j] = SnapToEnd(high.value);
  }
  return bounds;
}

PolicyChecker::PolicyChecker(const Policy& policy, ActionBounds bounds)
    : policy_(policy), bounds_(std::move(bounds)) {
  LFIW_ASSERT(bounds_.low.size() == policy.action_dim());
  // executed actions are floats: a bound is met when it is met in float
  bounds_.low = bounds_.low.cast<float>().cast<double>();
  bounds_.high = bounds_.high.cast<float>().cast<double>();
  sums_.dimensions.resize(static_cast<std::size_t>(policy.action_dim()));
  if (policy.has_density()) {
    sums_.density.emplace();
    sums_.density->lowest = std::numeric_limits<double>::infinity();
  }
}

bool PolicyChecker::AtBound(double action, Eigen::Index dim) const {
  return action <= bounds_.low[dim] || action >= bounds_.high[dim];
}

void PolicyChecker::Add(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                        ConstMatrixRef actions, std::span<const double> stored) {
  LFIW_ASSERT(observations.cols() == policy_.obs_dim() && actions.cols() == policy_.action_dim());
  MatrixF policy_actions(actions.rows(), actions.cols());
  std::vector<double> densities(sums_.density ? steps.size() : 0);
  ParallelBlocks(actions.rows(), kBlockRows, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t rows = end - begin;
    const auto first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(rows);
    policy_.Mean(observations.middleRows(begin, rows), steps.subspan(first, count),
                 policy_actions.middleRows(begin, rows));
    if (densities.empty()) return;
    policy_.LogDensity(observations.middleRows(begin, rows), steps.subspan(first, count),
                       actions.middleRows(begin, rows), bounds_.low, bounds_.high,
                       std::span(densities).subspan(first, count));
  });
  sums_.steps += actions.rows();
  AddActions(policy_actions, actions);
  if (sums_.density) AddDensities(densities, stored);
}

void PolicyChecker::AddActions(const MatrixF& policy_actions, ConstMatrixRef actions) {
  for (Eigen::Index j = 0; j < actions.cols(); ++j) {
    ActionDimensionCheck& sum = sums_.dimensions[static_cast<std::size_t>(j)];
    for (Eigen::Index i = 0; i < actions.rows(); ++i) {
      const auto logged = static_cast<double>(actions(i, j));
      const double own =
          std::clamp(static_cast<double>(policy_actions(i, j)), bounds_.low[j], bounds_.high[j]);
      sum.log_low = std::min(sum.log_low, logged);
      sum.log_high = std::max(sum.log_high, logged);
      sum.policy_low = std::min(sum.policy_low, own);
      sum.policy_high = std::max(sum.policy_high, own);
      sum.mean_difference += std::abs(own - logged);
      sum.log_share_at_bounds += AtBound(logged, j) ? 1.0 : 0.0;
      sum.policy_share_at_bounds += AtBound(own, j) ? 1.0 : 0.0;
    }
  }
}

void PolicyChecker::AddDensities(std::span<const double> computed, std::span<const double> stored) {
  if (!stored.empty() && !sums_.stored) sums_.stored.emplace();
  for (std::size_t i = 0; i < computed.size(); ++i) {
    if (!std::isfinite(computed[i])) continue;
    ++finite_;
    sums_.density->mean += computed[i];
    sums_.density->lowest = std::min(sums_.density->lowest, computed[i]);
    if (stored.empty() || !std::isfinite(stored[i])) continue;
    const double error = std::abs(computed[i] - stored[i]);
    ++sums_.stored->steps;
    sums_.stored->mean_error += error;
    sums_.stored->max_error = std::max(sums_.stored->max_error, error);
  }
}

PolicyCheck PolicyChecker::Result() const {
  LFIW_ASSERT(sums_.steps > 0);
  PolicyCheck result = sums_;
  const auto steps = static_cast<double>(sums_.steps);
  for (ActionDimensionCheck& dimension : result.dimensions) {
    dimension.mean_difference /= steps;
    dimension.log_share_at_bounds /= steps;
    dimension.policy_share_at_bounds /= steps;
  }
  if (result.density) {
    const auto finite = static_cast<double>(finite_);
    result.density->mean /= std::max(1.0, finite);
    result.density->share_not_finite = 1.0 - finite / steps;
  }
  if (result.stored) {
    result.stored->mean_error /= std::max(1.0, static_cast<double>(result.stored->steps));
  }
  return result;
}

double MeasureActionRate(const Policy& policy, ConstMatrixRef observations) {
  using Clock = std::chrono::steady_clock;
  const Eigen::Index rows = std::min<Eigen::Index>(64, observations.rows());
  const std::vector<std::int64_t> steps(static_cast<std::size_t>(rows));
  MatrixF noise(rows, policy.noise_dim()), actions(rows, policy.action_dim());
  Stream(0, "action rate")
      .FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  policy.Sample(observations.topRows(rows), steps, noise, actions);
  const auto start = Clock::now();
  std::chrono::duration<double> elapsed{};
  std::int64_t drawn = 0;
  while (elapsed.count() < 0.2) {
    policy.Sample(observations.topRows(rows), steps, noise, actions);
    drawn += rows;
    elapsed = Clock::now() - start;
  }
  return static_cast<double>(drawn) / elapsed.count();
}

}  // namespace lfiw::policies
