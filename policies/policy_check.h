#ifndef LFIW_POLICIES_POLICY_CHECK_H_
#define LFIW_POLICIES_POLICY_CHECK_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "policies/policy.h"

namespace lfiw::policies {

// Bounds that executed actions were clipped to, [action_dim]; infinite where there are none.
struct ActionBounds {
  VectorD low;
  VectorD high;
};

// The bounds that logged actions [n, action_dim] show: an extreme of a dimension that at least two
// rows reach exactly, and that differs from the other extreme, is a bound.
ActionBounds BoundsOfActions(ConstMatrixRef actions);

// The same of actions that come in pieces.
class ActionRange {
 public:
  // actions [n, action_dim], of as many dimensions in every call.
  void Add(ConstMatrixRef actions);
  // Without actions there are no dimensions.
  ActionBounds Bounds() const;

 private:
  // An extreme and how many rows reach it.
  struct Extreme {
    float value = 0.0f;
    std::int64_t rows = 0;
  };
  std::vector<Extreme> low_, high_;  // [action_dim]
};

// One dimension of the logged actions beside what the policy would do without noise in the same
// states, clipped to the bounds.
struct ActionDimensionCheck {
  double log_low = std::numeric_limits<double>::infinity();
  double log_high = -std::numeric_limits<double>::infinity();
  double policy_low = std::numeric_limits<double>::infinity();
  double policy_high = -std::numeric_limits<double>::infinity();
  double mean_difference = 0.0;         // mean of |policy - logged|
  double log_share_at_bounds = 0.0;     // of steps
  double policy_share_at_bounds = 0.0;  // of steps
};

// The policy's log-density of the logged actions, over the steps where it is finite.
struct DensityCheck {
  double mean = 0.0;
  double lowest = 0.0;
  double share_not_finite = 0.0;  // of all steps: actions that the policy cannot take
};

// Differences to the log's behavior_log_density, over the steps where both are finite.
struct StoredDensityCheck {
  std::int64_t steps = 0;
  double mean_error = 0.0;  // of |computed - stored|
  double max_error = 0.0;
};

struct PolicyCheck {
  std::int64_t steps = 0;
  std::vector<ActionDimensionCheck> dimensions;
  std::optional<DensityCheck> density;
  std::optional<StoredDensityCheck> stored;
};

// Replays a log through a policy, in pieces, so that a log need not be in memory.
class PolicyChecker {
 public:
  // `policy` must outlive the checker.
  PolicyChecker(const Policy& policy, ActionBounds bounds);

  // Consecutive steps. observations [n, obs_dim], steps [n] (index within the episode), actions
  // [n, action_dim], stored [n] or empty; see CheckFits of policy.h.
  void Add(ConstMatrixRef observations, std::span<const std::int64_t> steps, ConstMatrixRef actions,
           std::span<const double> stored);

  // Of all steps added, at least one.
  PolicyCheck Result() const;

 private:
  void AddActions(const MatrixF& policy_actions, ConstMatrixRef actions);
  void AddDensities(std::span<const double> computed, std::span<const double> stored);
  bool AtBound(double action, Eigen::Index dim) const;

  const Policy& policy_;
  ActionBounds bounds_;
  PolicyCheck sums_;  // sums in place of means and shares
  std::int64_t finite_ = 0;
};

// Actions per second that the policy draws on one thread in batches of 64, from observations
// [n, obs_dim], n >= 1; takes about a fifth of a second.
double MeasureActionRate(const Policy& policy, ConstMatrixRef observations);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_POLICY_CHECK_H_
