#ifndef LFIW_POLICIES_POLICY_H_
#define LFIW_POLICIES_POLICY_H_

#include <cstdint>
#include <span>
#include <string>

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::core {
struct EpisodeBatch;
}  // namespace lfiw::core

namespace lfiw::envs {
struct EnvSpec;
}  // namespace lfiw::envs

namespace lfiw::policies {

// A policy as a pure function: the caller supplies the noise, so a rollout is reproducible step by
// step. Thread safe.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::int64_t obs_dim() const = 0;
  virtual std::int64_t action_dim() const = 0;
  // Standard normal draws that one action consumes; 0 for a deterministic policy.
  virtual std::int64_t noise_dim() const = 0;
  // Number of discrete actions: actions are then rows with a single 1 among action_dim() zeros. 0
  // for continuous actions.
  virtual std::int64_t discrete_actions() const { return 0; }
  // One line for reports: kind, sizes, origin.
  virtual std::string Description() const = 0;

  // Draws one action per row, before any clipping to the environment's bounds.
  // observations [n, obs_dim], steps [n] (index of each row within its episode), noise
  // [n, noise_dim], actions [n, action_dim] (written).
  virtual void Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                      ConstMatrixRef noise, MatrixRef actions) const = 0;

  // The action without noise: the mean of the unclipped distribution, where the policy squashes its
  // draws the squashed mean, of discrete actions the most likely one. Shapes as in Sample.
  virtual void Mean(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                    MatrixRef actions) const = 0;

  // Whether LogDensity can be asked, and if not, why in a few words.
  virtual bool has_density() const = 0;
  virtual std::string DensityRefusal() const {
    return has_density() ? "" : "the policy is deterministic";
  }
  // log-density of executed actions: at a bound, the log of the tail mass beyond it (a censored
  // density), inside, the density of the drawn action; of discrete actions the log-probability.
  // low, high [action_dim]: the bounds; log_density [n] (written), -infinity where the policy
  // cannot act so.
  virtual void LogDensity(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                          ConstMatrixRef executed, const VectorD& low, const VectorD& high,
                          std::span<double> log_density) const = 0;
};

// Throws PolicyError that names both sides unless the policy's sizes are the environment's.
void CheckFits(const Policy& policy, const EnvSpec& spec);
// The same for a log; `source` names it.
void CheckFits(const Policy& policy, const EpisodeBatch& log, const std::string& source);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_POLICY_H_
