#ifndef LFIW_POLICIES_MEAN_POLICY_H_
#define LFIW_POLICIES_MEAN_POLICY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/layers.h"
#include "policies/policy.h"

namespace lfiw::policies {

// A policy that always takes the action another one would take without noise, as published returns
// of trained agents mostly are measured. It has no density.
class MeanPolicy final : public Policy {
 public:
  explicit MeanPolicy(std::shared_ptr<const Policy> policy);

  std::int64_t obs_dim() const override { return policy_->obs_dim(); }
  std::int64_t action_dim() const override { return policy_->action_dim(); }
  std::int64_t noise_dim() const override { return 0; }
  std::int64_t discrete_actions() const override { return policy_->discrete_actions(); }
  std::string Description() const override;

  void Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
              ConstMatrixRef noise, MatrixRef actions) const override;
  void Mean(ConstMatrixRef observations, std::span<const std::int64_t> steps,
            MatrixRef actions) const override;
  bool has_density() const override { return false; }
  void LogDensity(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                  ConstMatrixRef executed, const VectorD& low, const VectorD& high,
                  std::span<double> log_density) const override;

 private:
  std::shared_ptr<const Policy> policy_;
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_MEAN_POLICY_H_
